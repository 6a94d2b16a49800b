import { structuredPatch, type StructuredPatchHunk } from "diff";
import type { CliIo } from "./cli-io.ts";
import { counted, escapeText, ignoredText, shortVersion, someNames } from "./short-text.ts";
import { jsonText } from "./json-text.ts";
import { viewResource, type ViewOptions } from "./resource-view.ts";
import { printable, resourceJson } from "./show-resources.ts";
import { hopLines } from "./shown-hop.ts";
import { paintFor, type Tone } from "./style.ts";
import type { HeldResource, WatchEvent } from "./watch-event.ts";

/** Shows one event. */
export type WatchShow = (event: WatchEvent) => void;

/** Returns a function that shows an event as one JSON object per line. */
export function jsonWatchShow({ stdout, clock }: CliIo, view: ViewOptions): WatchShow {
  return (event) => {
    stdout.write(
      `${jsonText({ time: new Date(clock.wallTime()).toISOString(), ...jsonOf(event, view) })}\n`,
    );
  };
}

function jsonOf(event: WatchEvent, view: ViewOptions): object {
  const { kind, ...rest } = event;
  if (!("now" in rest))
    return "before" in rest
      ? { event: kind, name: rest.name, before: rest.before.version }
      : { event: kind, ...rest };
  const { name, now } = rest;
  return {
    event: kind,
    ...("before" in rest && { before: rest.before.version }),
    ...resourceJson({ name, ...now }, viewResource(now.payload, view)),
  };
}

/** Returns a function that shows an event as lines for people: a head line, then the resource as YAML or its changes. */
export function textWatchShow(io: CliIo, view: ViewOptions): WatchShow {
  const paint = paintFor(io);
  return (event) => {
    const head = `${paint("dim", new Date(io.clock.wallTime()).toISOString())} ${paint(toneOf[event.kind], event.kind)} ${textOf(event)}`;
    const body = bodyOf(event, view).map((line) =>
      paint(event.kind === "changed" ? lineTone(line) : "plain", printable(line, io)),
    );
    io.stdout.write(`${[head, ...body].join("\n")}\n`);
  };
}

const toneOf: Readonly<Record<WatchEvent["kind"], Tone>> = {
  state: "good",
  changed: "good",
  complete: "good",
  leads: "plain",
  list: "plain",
  connected: "good",
  removed: "warning",
  missing: "warning",
  incomplete: "warning",
  ignored: "warning",
  disconnected: "warning",
  rejected: "error",
  error: "error",
};

function textOf(event: WatchEvent): string {
  switch (event.kind) {
    case "state":
      return `${escapeText(event.name)} version ${shortVersion(event.now.version)}, ${event.now.payload.value.length} bytes`;
    case "changed":
      return `${escapeText(event.name)} version ${shortVersion(event.before.version)} > ${shortVersion(event.now.version)}`;
    case "removed":
      return `${escapeText(event.name)}, version ${shortVersion(event.before.version)} was the last`;
    case "leads":
      return `${escapeText(event.name)}${event.hops.length === 0 ? ": nowhere else any more" : ""}`;
    case "list":
      return `${escapeText(event.name)} version ${shortVersion(event.version)}: ${event.members.length === 0 ? "no members" : counted(event.members.length, "member")}`;
    case "missing":
    case "error":
      return `${escapeText(event.name)}: ${escapeText(event.reason)}`;
    case "rejected":
      return `${event.names.length === 0 ? "a whole response" : someNames(event.names)}, NACK of nonce ${escapeText(event.nonce)} sent: ${escapeText(event.reason)}`;
    case "complete":
      return `${escapeText(event.name)}: ${counted(event.members, "member")}`;
    case "incomplete":
      return `${escapeText(event.name)}: not all members are known`;
    case "ignored":
      return ignoredText(event.server, event.names);
    case "connected":
      return escapeText(event.server);
    case "disconnected":
      return `${escapeText(event.reason)}; again in ${(event.retryMs / 1_000).toFixed(1)} s`;
  }
}

function bodyOf(event: WatchEvent, view: ViewOptions): readonly string[] {
  if (event.kind === "leads") return hopLines(event.hops).map((line) => `  ${line}`);
  if (event.kind === "list")
    return event.members.map((name) => `  ${name === "" ? "(no name)" : escapeText(name)}`);
  if (event.kind === "state") return event.isListed ? [] : linesOf(event.now, view);
  return event.kind === "changed" ? diffLines(event.before, event.now, view) : [];
}

/** Returns the difference of two states, as hunks of a unified diff of their YAML. */
export function diffLines(
  before: HeldResource,
  now: HeldResource,
  view: ViewOptions,
): readonly string[] {
  const [one, other] = [viewResource(before.payload, view), viewResource(now.payload, view)];
  if (one.yaml === other.yaml)
    return [
      Buffer.compare(before.payload.value, now.payload.value) === 0
        ? "  (the content is the same)"
        : "  (what differs is not shown)",
    ];
  const patch = structuredPatch("", "", one.yaml, other.yaml, "", "", { context, maxEditLength });
  const hunks = patch?.hunks ?? [replacedLines(linesIn(one.yaml), linesIn(other.yaml))];
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
}

/** The number of unchanged lines that are shown before and after a change. */
const context = 3;
/** The number of removed and added lines up to which the shortest difference is searched. The time grows with the square of this number: about a second for 4,000 lines, and ten minutes for 100,000. */
const maxEditLength = 4_000;

/** Returns a hunk for texts that differ in too many lines. It replaces all lines from the first to the last difference. */
function replacedLines(before: readonly string[], now: readonly string[]): StructuredPatchHunk {
  const most = Math.min(before.length, now.length);
  let [head, tail] = [0, 0];
  while (head < most && before[head] === now[head]) head++;
  while (tail < most - head && before.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const start = Math.max(0, head - context);
  const after = Math.min(tail, context);
  const removed = before.slice(head, before.length - tail);
  const added = now.slice(head, now.length - tail);
  const common = now.slice(start, head);
  const rest = now.slice(now.length - tail, now.length - tail + after);
  const around = common.length + rest.length;
  return {
    oldStart: start + 1,
    oldLines: around + removed.length,
    newStart: start + 1,
    newLines: around + added.length,
    lines: [
      ...common.map((line) => ` ${line}`),
      ...removed.map((line) => `-${line}`),
      ...added.map((line) => `+${line}`),
      ...rest.map((line) => ` ${line}`),
    ],
  };
}

function linesOf(resource: HeldResource, view: ViewOptions): readonly string[] {
  const { yaml, notes } = viewResource(resource.payload, view);
  return [...notes.map((note) => `# note: ${note}`), ...linesIn(yaml)];
}

function linesIn(yaml: string): readonly string[] {
  return yaml.trimEnd().split("\n");
}

/** Returns the tone of a line of {@link diffLines}. */
export function lineTone(line: string): Tone {
  if (line.startsWith("@@")) return "dim";
  if (line.startsWith("+")) return "good";
  return line.startsWith("-") ? "error" : "plain";
}
