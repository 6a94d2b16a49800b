import { XdsError } from "@xdstp/core";
import { isGlob, parseName, printName, typeUrlFromType } from "@xdstp/uri";

/** The target of a request, read: the names in `/TYPE/ID?params`, and the parameters of this transport. */
export interface Target {
  /** The type URL of the resource. */
  readonly typeUrl: string;
  /** The names to look up, in this order: the xdstp name, then the opaque name. */
  readonly names: readonly string[];
  /** The form in the URL, which replaces the header `accept`. Absent: the header counts. */
  readonly form: string | undefined;
  /** The version that the client has, of a long poll. Empty: it has none. Absent: not a long poll. */
  readonly after: string | undefined;
  /** The position of the client in the history of the name. Absent: the client does not state it. */
  readonly at: string | undefined;
}

/** Parameters of a URL that belong to the transport. They are never part of a name. */
export const transportKeys = ["after", "at", "form"] as const;

/**
 * Reads the target of a request. `authority` is that of the names, decoded.
 * Throws an XdsError: INVALID_ARGUMENT for a target that is not a name, NOT_FOUND for a glob
 * (B-HTTP-3).
 */
export function readTarget(target: string, authority: string): Target {
  if (!target.startsWith("/")) throw invalid("the target of the request has to begin with /");
  const question = target.indexOf("?");
  const path = question === -1 ? target : target.slice(0, question);
  const { own, rest } = splitQuery(question === -1 ? "" : target.slice(question + 1));
  const host = encodeURIComponent(authority).replaceAll("%3A", ":");
  const read = parseName(`xdstp://${host}${path}${rest === "" ? "" : `?${rest}`}`);
  if (!read.ok) throw invalid(`${path} is not /TYPE/ID of a resource: ${read.error.message}`);
  const { resourceType, id, contextParams } = read.value;
  const name = printName(read.value);
  if (isGlob(name) || id === "*")
    throw new XdsError(
      "NOT_FOUND",
      `${path} is a glob, which this transport does not have; request a list collection or single resources`,
      { rule: "B-HTTP-3" },
    );
  const isOpaque = id !== "" && contextParams.size === 0 && !id.startsWith("xdstp:");
  return {
    typeUrl: typeUrlFromType(resourceType),
    names: isOpaque ? [name, id] : [name],
    form: own.get("form"),
    after: own.get("after"),
    at: own.get("at"),
  };
}

/** Returns the parameters of the transport, decoded, and the query without them. */
function splitQuery(query: string): { readonly own: Map<string, string>; readonly rest: string } {
  const own = new Map<string, string>();
  const rest: string[] = [];
  for (const part of query === "" ? [] : query.split("&")) {
    const equals = part.indexOf("=");
    const key = equals === -1 ? part : part.slice(0, equals);
    if (transportKeys.some((one) => one === key))
      own.set(key, decodeValue(equals === -1 ? "" : part.slice(equals + 1)));
    else rest.push(part);
  }
  return { own, rest: rest.join("&") };
}

function decodeValue(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid(`${JSON.stringify(text)} has an escape that is not UTF-8`);
  }
}

function invalid(text: string): XdsError {
  return new XdsError("INVALID_ARGUMENT", text, { rule: "B-HTTP-1" });
}
