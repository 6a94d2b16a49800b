import { nodeParams } from "@xdstp/bootstrap";
import {
  explain,
  type ExplainedPlace,
  type FederationServer,
  type FederationSource,
} from "@xdstp/federation";
import {
  isGlob,
  lintLocator,
  memberTypeOf,
  parseLocator,
  typeOf,
  typeUrlFromType,
} from "@xdstp/uri";
import type { AskFlags } from "./ask-flags.ts";
import { asCliError, errorText, withRule } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { configuredSources, type ConfiguredSources, optionsOf } from "./configured-sources.ts";
import { placesByDns } from "./asked-bootstrap.ts";
import { jsonText } from "./json-text.ts";
import { noAuthority } from "./shown-hop.ts";
import { escapeText } from "./short-text.ts";
import { wrapWords } from "./fit-text.ts";

/** The options of `xdstp resolve`. */
interface ResolveOptions {
  readonly name: string;
  /** The type of an opaque name. It matters only if the bootstrap has a source for this type. */
  readonly typeUrl?: string;
  readonly ask: AskFlags;
  readonly json: boolean;
}

/** Shows which servers would get the request for a name. Returns the exit code: 1 if no server would. Throws a CliError if the name cannot be requested. */
export async function resolve(options: ResolveOptions, io: CliIo): Promise<number> {
  const { name, ask, json } = options;
  const configured = await configuredSources(ask, io);
  const parsed = name.startsWith("xdstp:") ? parseLocator(name) : undefined;
  const explained = (found: readonly FederationSource[]): readonly ExplainedPlace[] =>
    placesOf(options, { ...configured, sources: [...configured.sources, ...found] });
  const resolved: Resolved = {
    name,
    from: configured.from,
    altOn: ask.altOn ?? "unreachable",
    places:
      ask.dns === true
        ? await placesByDns(explained, io, optionsOf(configured.node, ask))
        : explained([]),
    warnings: parsed?.ok === true ? lintLocator(parsed.value) : [],
  };
  io.stdout.write(
    json
      ? `${jsonText(resolvedJson(resolved), { indent: 2 })}\n`
      : `${resolvedLines(resolved, io.terminal()?.columns).join("\n")}\n`,
  );
  return resolved.places[0]?.error === undefined ? 0 : 1;
}

function placesOf(
  { name, typeUrl, ask }: ResolveOptions,
  { sources, ownSource, node, nodeContextParams }: ConfiguredSources,
): readonly ExplainedPlace[] {
  try {
    const next = ownSource(typeUrl ?? typeUrlOf(name))?.source;
    return explain(sources, name, {
      layers: { node: nodeParams(node, [...nodeContextParams, ...(ask.nodeContextParams ?? [])]) },
      ...(next !== undefined && { ownSource: next }),
    });
  } catch (error) {
    throw asCliError(error);
  }
}

function typeUrlOf(name: string): string | undefined {
  const parsed = name.startsWith("xdstp:") ? parseLocator(name) : undefined;
  return parsed?.ok === true && parsed.value.scheme === "xdstp"
    ? typeUrlFromType(parsed.value.resourceType)
    : undefined;
}

/** The servers that a name would be requested from. */
interface Resolved {
  readonly name: string;
  /** The file, variable or option that configures the servers. */
  readonly from: string;
  readonly altOn: "unreachable" | "missing";
  readonly places: readonly ExplainedPlace[];
  readonly warnings: ReturnType<typeof lintLocator>;
}

/** Returns the result for programs. */
function resolvedJson({ name, from, altOn, places, warnings }: Resolved): object {
  return { name, from, altOn, places: places.map(placeJson), warnings };
}

function placeJson({ added, sources, servers, error, ...place }: ExplainedPlace): object {
  return {
    ...place,
    added: Object.fromEntries(added),
    sources: sources.map(({ place: where = null, authorities = null }) => ({
      place: where,
      authorities,
    })),
    servers: servers.map(serverJson),
    ...(error !== undefined && { error: error.text, rule: error.context.rule }),
  };
}

function serverJson({ name, config }: FederationServer): object {
  return {
    server: name,
    variant: config?.variant,
    credentials: config?.credentials.type,
    clientCertificate: hasCertificate(config),
    aggregated: config?.aggregated ?? true,
    features: [...(config?.features ?? [])],
  };
}

function hasCertificate(config: FederationServer["config"]): boolean {
  return config?.credentials.type === "tls" && config.credentials.certificateFile !== undefined;
}

/** Returns the result for people: a block of lines for each place. */
function resolvedLines(
  { from, altOn, places, warnings }: Resolved,
  columns = 96,
): readonly string[] {
  const when =
    altOn === "missing"
      ? "the one above does not exist, or cannot be reached and is not held"
      : "no server of the one above is reachable, and it is not cached";
  const blocks = places.map((place, index) => [
    ...(index === 0
      ? []
      : ["", wrapWords(`alternative ${index}: asked while ${when}`, columns, "  ")]),
    ...rowsOf(place, from, columns),
  ]);
  return [
    ...blocks.flat(),
    ...warnings.map(({ message, rule }) =>
      row("warning", escapeText(withRule(message, rule)), columns),
    ),
  ];
}

function rowsOf(place: ExplainedPlace, from: string, columns: number): readonly string[] {
  const { locator, name, added, entry, authority, error, servers } = place;
  const rows: readonly (readonly [string, string])[] = [
    ["name", escapeText(locator)],
    ["sent as", name === locator ? "the same" : escapeText(name)],
    ...Array.from(added, ([key, value]) => ["added", escapeText(`${key}=${value}`)] as const),
    ...(entry === undefined
      ? []
      : [
          [
            "entry",
            `${escapeText(JSON.stringify(entry))} is taken out of the list that comes`,
          ] as const,
        ]),
    ...(entry === undefined && isList(name)
      ? [["members", "the list says where, each by its own authority"] as const]
      : []),
    [
      "authority",
      authority === null ? noAuthority(name) : authority === "" ? "(empty)" : escapeText(authority),
    ],
    ["source", escapeText(error === undefined ? sourceText(place, from) : errorText(error))],
    ...servers.map(
      (server, index) =>
        [
          index === 0 ? "servers" : "",
          `${index + 1}. ${escapeText(server.name)}  ${serverText(server)}`,
        ] as const,
    ),
    ...(servers.length < 2
      ? []
      : [
          [
            "",
            place.reachabilityOnly
              ? "each when those above cannot be reached"
              : "each when those above cannot be reached and something is missing",
          ] as const,
        ]),
  ];
  return rows.map(([key, text]) => row(key, text, columns));
}

function isList(name: string): boolean {
  return memberTypeOf(typeOf(name) ?? "") !== undefined && !isGlob(name);
}

function row(key: string, text: string, columns: number): string {
  return `${key.padEnd(9)}  ${wrapWords(text, columns - 11, "").replaceAll("\n", `\n${" ".repeat(11)}`)}`;
}

function sourceText({ by, sources, authority }: ExplainedPlace, from: string): string {
  const where = sources.map((source) => placeText(source, from)).join(", then ");
  switch (by) {
    case "reference":
      return `${where}, next to the reference${authority === null ? "" : ", which lists the authority"}`;
    case "authority":
      return authority === null
        ? `${where}, for names of files`
        : `${where}, which list${sources.length === 1 ? "s" : ""} the authority`;
    default:
      return `${where}, ${authority === null ? "for opaque names" : "the default: nothing lists the authority"}`;
  }
}

function placeText({ place = "a source" }: FederationSource, from: string): string {
  return place === from || /^(?:DNS|--files) /.test(place) ? place : `${place} of ${from}`;
}

function serverText({ config }: FederationServer): string {
  const tls = hasCertificate(config)
    ? "tls with a certificate of the client"
    : (config?.credentials.type ?? "");
  if (config === undefined) return "files";
  if (config.variant === undefined) return "native HTTP";
  if (config.file !== undefined) return `${config.variant}, a file with one type`;
  return `${config.variant}, ${tls}${config.aggregated === false ? ", a stream for each type" : ""}`;
}
