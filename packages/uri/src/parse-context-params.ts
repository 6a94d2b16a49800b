import { decode } from "./decode.ts";
import type { UriError } from "./uri-error.ts";

const none: ReadonlyMap<string, string> = new Map();

/** The parameters in the query that lies between `start` and `end` (N-11). Of a repeated key the first value counts (N-12). */
export function parseContextParams(
  text: string,
  start: number,
  end: number,
): ReadonlyMap<string, string> | UriError {
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
): UriError | undefined {
  const equals = text.slice(from, to).indexOf("=");
  const keyEnd = equals === -1 ? to : from + equals;
  const key = decode(text, from, keyEnd, "context");
  if (typeof key !== "string") return key;
  const value = decode(text, Math.min(keyEnd + 1, to), to, "context");
  if (typeof value !== "string") return value;
  if (!params.has(key)) params.set(key, value);
  return undefined;
}
