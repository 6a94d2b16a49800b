import type { CacheEvent, DanglingEvent } from "@xdstp/cache";
import type { CliEvent, ServeEvent, WorkerEvent } from "./cli-event.ts";
import { connectCommands, type Endpoint, formatEndpoint, type ServedTls } from "./endpoint.ts";
import { describeFolderEvent } from "./describe-folder-event.ts";
import { describeServerEvent } from "./describe-server-event.ts";
import { describeUpstreamEvent } from "./describe-upstream-event.ts";
import type { HttpFlags } from "./http-flags.ts";
import { counted, escapeText, shortVersion, someNames } from "./short-text.ts";
import { shortType } from "./short-type.ts";
import type { Level, ReportLine } from "./reporter.ts";
import type { Versions } from "./served-versions.ts";

/** Returns an event as lines of text: one line, or one for each problem in it. */
export function describeEvent(shown: CliEvent): readonly ReportLine[] {
  const lines = describe(shown);
  const { more } = shown;
  return more === undefined
    ? lines
    : lines.map((line) => ({
        ...line,
        text: `${line.text} (and ${more} more of this kind within a second)`,
      }));
}

function describe(shown: CliEvent): readonly ReportLine[] {
  switch (shown.from) {
    case "log":
      return [
        {
          level: "warning",
          label: "log",
          text: `${counted(shown.event.lines, "line")} could not be written, and are lost`,
        },
      ];
    case "folder":
      return describeFolderEvent(shown.event);
    case "server":
      return [describeServerEvent(shown.event)];
    case "cache":
      return [describeCacheEvent(shown.event)];
    case "upstream":
      return [describeUpstreamEvent(shown.event)];
    case "serve":
    case "relay":
      return [describeServeEvent(shown.event)];
  }
}

function describeServeEvent(event: ServeEvent | WorkerEvent): ReportLine {
  switch (event.kind) {
    case "listening":
      return { level: "good", label: "listening", text: listening(event) };
    case "warning":
      return { level: "warning", label: "warning", text: escapeText(event.message) };
    case "certificate":
      return event.problem === undefined
        ? { level: "good", label: "certificate", text: "the new one is shown to new connections" }
        : {
            level: "error",
            label: "certificate",
            text: `the new ${escapeText(event.file ?? "one")} is not used, the one before stays: ${escapeText(event.problem)}`,
          };
    case "policy":
      return event.problem === undefined
        ? { level: "good", label: "policy", text: "the new rules are in force" }
        : {
            level: "error",
            label: "policy",
            text: `the new rules are not used, those before stay: ${escapeText(event.problem)}`,
          };
    case "flags-rejected":
      return {
        level: "error",
        label: "flags",
        text: `${escapeText(event.name)} is rejected: ${escapeText(event.reason)}`,
      };
    case "versions":
      return {
        level: "info",
        label: "versions",
        text: versionsText(event),
      };
    case "worker-started":
      return {
        level: "good",
        label: "started",
        text: `${workerText(event.worker)}, process ${event.pid}`,
      };
    case "worker-ended":
      return {
        level: "error",
        label: "ended",
        text: `${workerText(event.worker)}: ${escapeText(event.reason)}; started again in ${(event.retryMs / 1_000).toFixed(1)} s`,
      };
    case "stopping":
      return {
        level: "info",
        label: "stopping",
        text: `${event.signal}: ${counted(event.streams, "stream")} to end; a second signal stops at once`,
      };
    case "stopped":
      return { level: "info", label: "stopped", text: "every stream has ended" };
  }
}

/** The number of node keys whose versions are shown in one line. */
const mostViewsOfLine = 10;

function versionsText({
  versions,
  views = {},
  moreViews = 0,
}: Extract<ServeEvent, { kind: "versions" }>): string {
  const textOf = (one: Versions): string =>
    Object.entries(one)
      .map(([typeUrl, version]) => `${shortType(typeUrl)} ${shortVersion(version)}`)
      .join(", ");
  const all = Object.entries(views);
  const more = all.length - mostViewsOfLine + moreViews;
  return [
    textOf(versions) || "none, since nothing is served",
    ...all
      .slice(0, mostViewsOfLine)
      .map(([key, own]) => `for node key ${quoted(key)}: ${textOf(own)}`),
    ...(more > 0 ? [`and ${counted(more, "more node key")}`] : []),
  ].join("; ");
}

function workerText(worker: number): string {
  return worker === 0 ? "the process that asks upstream" : `worker ${worker}`;
}

function listening({
  address,
  tls,
  metrics,
  http,
  transports = [],
  ...what
}: Extract<ServeEvent, { kind: "listening" }>): string {
  const { envoy, grpc } = connectCommands(address, tls);
  const served =
    "dir" in what
      ? `serving ${escapeText(what.dir)}`
      : `relaying ${someNames(what.upstreams)} by ${escapeText(what.by)}`;
  return `${formatEndpoint(address)}, ${served}; to connect: ${envoy} (or: ${grpc})${httpText(address, tls, http)}${transports.length === 0 ? "" : `; also at ${transports.map(escapeText).join(", ")}`}${metrics === undefined ? "" : `; metrics: http://${formatEndpoint(metrics)}/metrics`}`;
}

function httpText(
  address: Endpoint,
  tls: ServedTls | undefined,
  http: HttpFlags | undefined,
): string {
  const base = `${tls === undefined ? "http" : "https"}://${formatEndpoint(address)}`;
  const rest = http?.rest === true ? `; REST: ${base}/v3/discovery:TYPE` : "";
  const { get, openfeature } = http ?? {};
  const flags =
    openfeature === undefined
      ? ""
      : `; flags: ${base}/ofrep/v1/evaluate/flags, flagd.sync.v1 on ${formatEndpoint(address)}`;
  const names = get?.authority === undefined ? "" : ` (names of ${escapeText(get.authority)})`;
  const resources = get === undefined ? "" : `; resources: ${base}/TYPE/ID${names}`;
  return `${rest}${flags}${resources}`;
}

/** The level and the label of each event of a cache. */
const cacheLines: Readonly<
  Record<(CacheEvent | DanglingEvent)["kind"], readonly [level: Level, label: string]>
> = {
  ready: ["good", "ready"],
  "aliases-ignored": ["warning", "aliases"],
  "version-reused": ["warning", "version"],
  "variants-overlap": ["warning", "variants"],
  dangling: ["warning", "dangling"],
  resolved: ["good", "resolved"],
  "feed-failed": ["error", "failed"],
};

function describeCacheEvent(event: CacheEvent | DanglingEvent): ReportLine {
  const [level, label] = cacheLines[event.kind];
  return { level, label, text: cacheText(event) };
}

function cacheText(event: CacheEvent | DanglingEvent): string {
  switch (event.kind) {
    case "ready":
      return `clients are served from revision ${event.revision} on`;
    case "aliases-ignored":
      return `${shortType(event.typeUrl)} ${escapeText(event.name)}: its aliases are not served: xdstp names have redirects instead; leave them out, or use an opaque name`;
    case "version-reused":
      return `${shortType(event.typeUrl)} ${escapeText(event.name)}: version ${escapeText(event.version)} was used before for other content, so it is served as ${escapeText(event.servedAs)}; give each content a version of its own, or none`;
    case "variants-overlap":
      return `${shortType(event.typeUrl)} ${escapeText(event.name)}: clients that match several of its variants are given none: ${event.variants.map((one) => (one === "" ? "one without constraints" : escapeText(one))).join("; ")}`;
    case "dangling":
      return `${ofKey(event)}${shortType(event.by.typeUrl)} ${quoted(event.by.name)}${event.others === 0 ? "" : ` and ${counted(event.others, "other")}`} ${event.others === 0 ? "refers" : "refer"} to ${shortType(event.typeUrl)} ${quoted(event.name)}, which is not served; add it, unless clients have it in their bootstrap`;
    case "resolved":
      return `${ofKey(event)}${shortType(event.typeUrl)} ${quoted(event.name)} ${event.isServed ? "is served now" : "is no longer referred to"}`;
    case "feed-failed":
      return `${event.retryMs === undefined ? "edits are not followed any more" : `edits are not followed until the next attempt in ${Math.ceil(event.retryMs / 1_000)} s`}: ${escapeText(event.error.text)}`;
  }
}

/** Returns the beginning of a text about the view of a node key. Empty for the view of all clients. */
function ofKey({ key }: { readonly key?: string }): string {
  return key === undefined ? "" : `for node key ${quoted(key)}, `;
}

function quoted(name: string): string {
  return `"${escapeText(name)}"`;
}
