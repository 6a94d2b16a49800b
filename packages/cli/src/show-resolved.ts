import type { ExplainedPlace, FederationServer, FederationSource } from "@xdstp/federation";
import { isGlob, memberTypeOf, typeOf } from "@xdstp/uri";
import { errorText, withRule } from "./error-text.ts";
import { escapeText } from "./escape-text.ts";
import type { Resolved } from "./resolved.ts";
import { wrapWords } from "./wrap-words.ts";

/** What is resolved, for programs. */
export function resolvedJson({ name, from, altOn, places, warnings }: Resolved): object {
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

/** The same for people: a block for each place. */
export function resolvedLines(
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
      authority === null
        ? "none, the name is opaque"
        : authority === ""
          ? "(empty)"
          : escapeText(authority),
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
      return `${where}, beside the reference${authority === null ? "" : ", which lists the authority"}`;
    case "authority":
      return `${where}, which list${sources.length === 1 ? "s" : ""} the authority`;
    default:
      return `${where}, ${authority === null ? "for opaque names" : "the default: nothing lists the authority"}`;
  }
}

function placeText({ place = "a source" }: FederationSource, from: string): string {
  return place === from || place.startsWith("DNS ") ? place : `${place} of ${from}`;
}

function serverText({ config }: FederationServer): string {
  const tls = hasCertificate(config)
    ? "tls with a certificate of the client"
    : (config?.credentials.type ?? "");
  return `${config?.variant ?? ""}, ${tls}${config?.aggregated === false ? ", a stream for each type" : ""}`;
}
