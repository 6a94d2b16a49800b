import { decode, inType, skip } from "./percent-encoding.ts";
import { checkText } from "./check-text.ts";
import { fault, type ParseResult, resultOf, type UriFault } from "./uri-error.ts";
import type { ResourceParts, XdstpName } from "./locator.ts";

/**
 * Parses an `xdstp://` name (xdstp-names.md section 3).
 *
 * Never throws. A text with another beginning is an opaque name, which is not an error of the
 * protocol: the result then has the code `scheme` (N-01).
 * The length is not limited (N-21), and the time is linear in it.
 */
export function parseName(text: string): ParseResult<XdstpName> {
  return resultOf(readName(text));
}

/** Reads a name. Use it instead of {@link parseName} where the reason of a fault is not needed. */
export function readName(text: string): XdstpName | UriFault {
  if (!text.startsWith("xdstp:")) return fault("scheme", "scheme", text, 0);
  const bad = checkText(text, 6);
  if (bad !== undefined) return bad;
  const hash = text.indexOf("#");
  if (hash !== -1) return fault("fragment-in-name", "directives", text, hash);
  const parts = parseResourceParts(text, 8, text.length);
  return "code" in parts ? parts : { scheme: "xdstp", ...parts };
}

/** Reads `authority/type/id?params` between `start` and `end`, where the fragment begins (N-03, N-07 to N-13). */
export function parseResourceParts(
  text: string,
  start: number,
  end: number,
): ResourceParts | UriFault {
  const question = text.indexOf("?", start);
  const pathEnd = question === -1 || question > end ? end : question;
  const slash = text.indexOf("/", start);
  const authorityEnd = slash === -1 || slash > pathEnd ? pathEnd : slash;
  const authority = decode(text, start, authorityEnd, "authority");
  if (typeof authority !== "string") return authority;
  const typeEnd = findTypeEnd(text, authorityEnd + 1, pathEnd);
  if (typeof typeEnd !== "number") return typeEnd;
  const id = decode(text, Math.min(typeEnd + 1, pathEnd), pathEnd, "id");
  if (typeof id !== "string") return id;
  const contextParams = parseContextParams(text, pathEnd + 1, end);
  if ("code" in contextParams) return contextParams;
  return { authority, resourceType: text.slice(authorityEnd + 1, typeEnd), id, contextParams };
}

/**
 * Returns where the type ends. The type is the first segment of the path and has no escapes (N-08).
 */
function findTypeEnd(text: string, start: number, pathEnd: number): number | UriFault {
  if (start >= pathEnd) return fault("type-missing", "type", text, pathEnd);
  const end = skip(text, start, inType);
  if (end < pathEnd && text.charAt(end) !== "/") return fault("type-invalid", "type", text, end);
  return end > start ? end : fault("type-missing", "type", text, start);
}

const none: ReadonlyMap<string, string> = new Map();

/** Parses the parameters in the query between `start` and `end` (N-11). The first value of a repeated key counts (N-12). */
function parseContextParams(
  text: string,
  start: number,
  end: number,
): ReadonlyMap<string, string> | UriFault {
  if (start >= end) return none;
  const params = new Map<string, string>();
  for (let from = start, to; from < end; from = to + 1) {
    to = text.indexOf("&", from);
    if (to === -1 || to > end) to = end;
    const error = to > from ? addParam(params, text, from, to) : undefined;
    if (error !== undefined) return error;
  }
  return params;
}

function addParam(
  params: Map<string, string>,
  text: string,
  from: number,
  to: number,
): UriFault | undefined {
  const equals = text.slice(from, to).indexOf("=");
  const keyEnd = equals === -1 ? to : from + equals;
  const key = decode(text, from, keyEnd, "context");
  if (typeof key !== "string") return key;
  const value = decode(text, Math.min(keyEnd + 1, to), to, "context");
  if (typeof value !== "string") return value;
  if (!params.has(key)) params.set(key, value);
  return undefined;
}
