import { type Fault, type Put, readConstraints, type ResourceType, XdsError } from "@xdstp/core";
import { walkList } from "@xdstp/core/wire";
import { collectionTypeOf, typeFromTypeUrl } from "@xdstp/uri";

import type { ReadName } from "./read-name.ts";

/** The type URL of a redirect (C-REDIR-1). */
const REDIRECT = "type.googleapis.com/xds.core.v3.ResourceLocator";

/**
 * Checks what holds for every resource, whatever its type; for a list collection, whose members
 * have the type `memberTypeUrl`, also its entries. undefined: the resource is valid.
 */
export function rejectPut(
  { typeUrl, resource }: Put,
  name: ReadName,
  text: string,
  descriptor: ResourceType | undefined,
  memberTypeUrl: string | undefined,
): XdsError | undefined {
  const fault =
    typeUrlFault(typeUrl) ??
    nameFault(name, text, typeUrl) ??
    payloadFault(resource.payload.typeUrl, typeUrl, name) ??
    valueFault(resource.payload.value) ??
    aliasFault(resource.aliases) ??
    constraintsFault(resource.constraints) ??
    ttlFault(resource.ttlMs, "TTL") ??
    ttlFault(resource.expireMs, "time") ??
    (memberTypeUrl === undefined ? undefined : walkList(resource.payload.value, memberTypeUrl));
  if (fault !== undefined)
    return new XdsError(
      "INVALID_ARGUMENT",
      `${JSON.stringify(text)} of ${typeUrl}: ${fault.text}`,
      {
        typeUrl,
        resource: text,
        rule: fault.rule,
      },
    );
  return descriptor?.validate === undefined
    ? undefined
    : guarded(() => descriptor.validate?.(resource));
}

/** Runs a check that is not part of the cache; if it throws, the resource is rejected. */
function guarded(check: () => XdsError | undefined): XdsError | undefined {
  try {
    return check();
  } catch (error) {
    return XdsError.from(error);
  }
}

/**
 * Returns true if a name of this type can be requested under a type URL: its own, or that of the
 * members if the name is of a list collection (B-TYPE-5, B-TYPE-6).
 */
export function fitsType({ type, kind }: ReadName, typeUrl: string): boolean {
  if (type === undefined) return true;
  const own = typeFromTypeUrl(typeUrl);
  return own !== undefined && (type === own || (kind === "name" && type === collectionTypeOf(own)));
}

function nameFault(name: ReadName, text: string, typeUrl: string): Fault | undefined {
  if (text === "" || text === "*")
    return {
      text: "no resource can have this name; use another name",
      rule: text === "*" ? "S-WILD-1" : "S-SUB-6",
    };
  if (name.kind === "invalid")
    return { text: `it is not an xdstp name: ${name.fault?.text ?? ""}`, rule: name.fault?.rule };
  if (name.kind === "glob")
    return {
      text: "a last segment * makes it a glob, which cannot be the name of a resource; use another name",
      rule: "N-50",
    };
  if (name.kind === "opaque") return textFault("it", text);
  if (!fitsType(name, typeUrl))
    return {
      text: `the name has the type ${name.type}; put it under that type or rename it`,
      rule: "B-TYPE-5",
    };
  return undefined;
}

function payloadFault(payload: string, typeUrl: string, { type }: ReadName): Fault | undefined {
  if (payload === typeUrl || payload === REDIRECT) return undefined;
  if (
    type !== undefined &&
    payload === collectionTypeOf(typeUrl) &&
    type === typeFromTypeUrl(payload)
  )
    return undefined;
  return {
    text: `the payload has the type URL ${JSON.stringify(payload)}; it has to be ${typeUrl}`,
    rule: "C-TYPE-4",
  };
}

/** Checks that a value is bytes. They may come from another realm, so `instanceof` is not used. */
function valueFault(value: unknown): Fault | undefined {
  return ArrayBuffer.isView(value)
    ? undefined
    : { text: `the value is ${describeValue(value)}; give the encoded message, a Uint8Array` };
}

function aliasFault(aliases: readonly string[] | undefined): Fault | undefined {
  for (const alias of aliases ?? []) {
    const fault = textFault(`its alias ${JSON.stringify(alias)}`, alias);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Checks constraints: if they cannot be read, it is not known which clients match. */
function constraintsFault(constraints: Uint8Array | undefined): Fault | undefined {
  const fault = constraints === undefined ? undefined : readConstraints(constraints).fault;
  return fault === undefined
    ? undefined
    : { text: `its dynamic parameter constraints cannot be read: ${fault}`, rule: "B-DYN-3" };
}

function ttlFault(ttlMs: number | undefined, what: string): Fault | undefined {
  if (ttlMs === undefined || (ttlMs > 0 && ttlMs <= 315_576_000_000_000)) return undefined;
  return {
    text: `a ${what} of ${ttlMs} ms; it has to be more than 0 and at most 10,000 years, or absent`,
  };
}

/** Returns the fault of a text that UTF-8 cannot encode. Each lone surrogate would be sent as U+FFFD, so several names would be sent as one (N-06). `what`: the subject of the fault. */
function textFault(what: string, text: string): Fault | undefined {
  return /\p{Surrogate}/u.test(text)
    ? {
        text: `${what} has half a surrogate pair, which UTF-8 cannot encode; write the whole character`,
        rule: "N-06",
      }
    : undefined;
}

/** Returns the fault of a type URL (B-TYPE-1). It needs a prefix, and any prefix is valid, as in every `google.protobuf.Any`. */
function typeUrlFault(typeUrl: string): Fault | undefined {
  if (typeof typeUrl !== "string")
    return {
      text: `the type URL is ${describeValue(typeUrl)}; give type.googleapis.com/ and the full message name`,
      rule: "B-TYPE-1",
    };
  const slash = typeUrl.lastIndexOf("/");
  if (slash !== -1 && slash < typeUrl.length - 1) return undefined;
  const right =
    slash === -1 && typeUrl !== ""
      ? `write type.googleapis.com/${typeUrl}`
      : "write type.googleapis.com/ and the full message name";
  return {
    text: `the type URL ${JSON.stringify(typeUrl)} has no ${slash === -1 ? "slash" : "name"}; ${right}`,
    rule: "B-TYPE-1",
  };
}

/** Describes a value of the wrong type for an error: `missing`, `null`, `a string`, `an object`. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  const type = typeof value;
  return `${type === "object" ? "an" : "a"} ${type}`;
}
