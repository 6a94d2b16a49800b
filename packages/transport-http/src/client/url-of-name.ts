import { XdsError } from "@xdstp/core";
import { isGlob, parseName, printName, typeFromTypeUrl } from "@xdstp/uri";

import { withoutTransportQuery } from "./transport-query.ts";

/**
 * Returns the origin, such as `https://config.example`, of the server that has the names of an
 * authority, decoded; null: opaque names. undefined: the names cannot be requested.
 */
export type OriginOf = (authority: string | null) => string | undefined;

/**
 * Returns the URL of a name: the canonical name with the origin in place of scheme and authority
 * (B-HTTP-1). An opaque name is the id below its type.
 * Throws an XdsError: UNIMPLEMENTED for a glob or `*` (B-HTTP-3), INVALID_ARGUMENT for a name that
 * cannot be requested.
 */
export function urlOfName(typeUrl: string, name: string, originOf: OriginOf): string {
  if (name === "*" || isGlob(name))
    throw new XdsError(
      "UNIMPLEMENTED",
      `${JSON.stringify(name)} cannot be requested over HTTP, which has no globs; subscribe to single resources, or to a list collection`,
      { resource: name, rule: "B-HTTP-3" },
    );
  if (!name.startsWith("xdstp:")) {
    const id = printName({
      scheme: "xdstp",
      authority: "",
      resourceType: typeFromTypeUrl(typeUrl) ?? typeUrl,
      id: name,
      contextParams: new Map(),
    });
    return join(originOf(null), id, name);
  }
  const read = parseName(name);
  if (!read.ok) throw invalid(name, read.error.message);
  if (read.value.id === "") throw invalid(name, "it has a type, but not an id");
  return join(originOf(read.value.authority), printName(read.value), name);
}

function join(origin: string | undefined, canonical: string, name: string): string {
  if (origin === undefined)
    throw invalid(name, "no origin is configured for it; return one from `origin`");
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || url.origin === "null" || url.origin !== origin.replace(/\/$/, ""))
    throw invalid(name, `${JSON.stringify(origin)} is not an origin, such as https://HOST:PORT`);
  const target = canonical.slice(canonical.indexOf("/", "xdstp://".length));
  if (withoutTransportQuery(target) !== target)
    throw invalid(
      name,
      "after, at and form are parameters of the transport, so a name cannot have them",
    );
  // A URL has no way to write such a segment: %2E is the same as a dot in it.
  if (/\/\.{1,2}(?:[/?]|$)/.test(target))
    throw invalid(name, "a URL with the segment . or .. leads to another resource");
  return `${url.origin}${target}`;
}

function invalid(name: string, reason: string): XdsError {
  return new XdsError(
    "INVALID_ARGUMENT",
    `${JSON.stringify(name)} cannot be requested over HTTP: ${reason}`,
    { resource: name, rule: "B-HTTP-1" },
  );
}
