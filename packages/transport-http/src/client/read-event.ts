import { StatusCode, type StatusName, XdsError } from "@xdstp/core";

import { type Read, readLocation, type UrlAnswer } from "./read-answer.ts";

/**
 * Reads an event of a URL (B-HTTP-15). A reason for which the server cannot send the resource now is
 * a failure, which says nothing of the resource. undefined: the event is of another kind.
 * Throws an XdsError, INVALID_ARGUMENT, if the data is not that of its kind.
 */
export function readEvent(
  url: string,
  { event, data }: { readonly event: string; readonly data: string },
): UrlAnswer | Extract<Read, { readonly kind: "failure" }> | undefined {
  const read = reading.get(event);
  if (read === undefined) return undefined;
  try {
    return read(url, JSON.parse(data) as EventData);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new XdsError(
      "INVALID_ARGUMENT",
      `GET ${url}: an event "${event}" cannot be read: ${reason}`,
      { rule: "B-HTTP-15", cause: error },
    );
  }
}

/** The data of an event, before it is checked. */
type EventData = Readonly<Record<string, unknown>>;

type EventAnswer = NonNullable<ReturnType<typeof readEvent>>;

const reading: ReadonlyMap<string, (url: string, data: EventData) => EventAnswer> = new Map([
  ["resource", readResource],
  ["redirect", readRedirect],
  ["missing", readMissing],
  ["failure", (url, data) => ({ kind: "failure", error: errorOf(url, data), retryMs: 0 })],
]);

function readResource(_: string, data: EventData): EventAnswer {
  const { version, ttl, noStore, resource, protobuf } = data;
  return {
    kind: "found",
    version: textIn("version", version),
    ...(protobuf === undefined
      ? { mediaType: "application/json", body: jsonOf(resource) }
      : { mediaType: "application/x-protobuf", body: bytesOf(textIn("protobuf", protobuf)) }),
    ttlMs: typeof ttl === "number" && ttl >= 0 ? ttl * 1_000 : undefined,
    noStore: noStore === true,
  };
}

function readRedirect(url: string, { version, location }: EventData): EventAnswer {
  return readLocation(url, {
    version: textIn("version", version),
    location: textIn("location", location),
    isPermanent: false,
  });
}

function readMissing(url: string, data: EventData): EventAnswer {
  const error = errorOf(url, data);
  return transient.has(error.code)
    ? { kind: "failure", error, retryMs: 0 }
    : { kind: "missing", error: new XdsError("NOT_FOUND", error.text) };
}

/** The codes of a server that cannot say now whether the resource exists (S-HTTP-9). */
const transient: ReadonlySet<StatusName> = new Set([
  "UNAVAILABLE",
  "DEADLINE_EXCEEDED",
  "RESOURCE_EXHAUSTED",
]);

function errorOf(url: string, { code, message }: EventData): XdsError {
  const known = typeof code === "string" && Object.hasOwn(StatusCode, code) ? code : "UNKNOWN";
  const text = textIn("message", message).slice(0, 500);
  return new XdsError(known as StatusName, `GET ${url}: ${text}`);
}

function textIn(field: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw new Error(`${field} is not a text`);
}

function jsonOf(resource: unknown): Uint8Array {
  if (resource === undefined) throw new Error("it has no resource");
  return new TextEncoder().encode(JSON.stringify(resource));
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
