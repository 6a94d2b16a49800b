import { nameKey } from "@xdstp/uri";

import type { AnyBytes } from "@xdstp/core";
import { decodeText, field, nextField, varintValue, walkFields, WireType } from "@xdstp/core/wire";
import { isText } from "../wire/is-text.ts";
import { readText } from "./read-fields.ts";
import type { ReceivedResource } from "./received.ts";

/** Fields of `envoy.service.discovery.v3.Resource`. */
const Field = {
  VERSION: 1,
  RESOURCE: 2,
  NAME: 3,
  ALIASES: 4,
  TTL: 6,
  CACHE_CONTROL: 7,
  RESOURCE_NAME: 8,
  METADATA: 9,
} as const;

type Draft = { -readonly [Key in keyof ReceivedResource]: ReceivedResource[Key] } & {
  aliases?: string[];
};

/**
 * Reads an encoded `Resource` in `bytes[start, end)`, from a response of this type. The payload is
 * not decoded. Never throws: `fault` says what cannot be read.
 */
export function readResource(
  bytes: Uint8Array,
  start: number,
  end: number,
  typeUrl: string,
): ReceivedResource {
  const draft: Draft = { name: "", key: "", version: "", payload: undefined };
  for (let at = start, next; at < end; at = next) {
    next = nextField(bytes, at, end);
    if (next < 0 || next > end) {
      draft.fault = "it is not a Resource message";
      break;
    }
    if (field.wireType === WireType.LENGTH_DELIMITED)
      readField(draft, bytes, field.number, field.start, next, typeUrl);
  }
  draft.key = nameKey(draft.name);
  return draft;
}

function readField(
  draft: Draft,
  bytes: Uint8Array,
  number: number,
  start: number,
  end: number,
  typeUrl: string,
): void {
  switch (number) {
    case Field.VERSION:
      draft.version = decodeText(bytes, start, end);
      break;
    case Field.RESOURCE:
      readBody(draft, readAny(bytes, start, end, typeUrl));
      break;
    case Field.NAME:
      draft.name = textIn(draft, bytes, start, end, draft.name);
      break;
    case Field.ALIASES:
      (draft.aliases ??= []).push(textIn(draft, bytes, start, end, ""));
      break;
    case Field.TTL:
      readTtl(draft, bytes, start, end);
      break;
    case Field.CACHE_CONTROL:
      draft.noStore = isSet(bytes, start, end);
      break;
    case Field.RESOURCE_NAME:
      readName(draft, bytes, start, end);
      break;
    case Field.METADATA:
      draft.metadata = bytes.subarray(start, end);
      break;
    default:
  }
}

function textIn(
  draft: Draft,
  bytes: Uint8Array,
  start: number,
  end: number,
  otherwise: string,
): string {
  const text = readText(bytes, start, end);
  if (text === undefined) draft.fault = "a name in it is not UTF-8";
  return text ?? otherwise;
}

function readBody(draft: Draft, body: AnyBytes | undefined): void {
  if (body === undefined) draft.fault = "its resource is not an Any message";
  else draft.payload = body;
}

/**
 * Reads an encoded `google.protobuf.Any`. undefined: it is not one. A payload of the expected type
 * shares the string `expected`, so that each resource does not keep a copy.
 */
export function readAny(
  bytes: Uint8Array,
  start: number,
  end: number,
  expected: string,
): AnyBytes | undefined {
  let typeUrl = "";
  let valueStart = end;
  let valueEnd = end;
  for (let at = start, next; at < end; at = next) {
    next = nextField(bytes, at, end);
    if (next < 0 || next > end) return undefined;
    if (field.number === 1)
      typeUrl = isText(bytes, field.start, next, expected)
        ? expected
        : decodeText(bytes, field.start, next);
    if (field.number === 2) [valueStart, valueEnd] = [field.start, next];
  }
  return { typeUrl, value: bytes.subarray(valueStart, valueEnd) };
}

/** Reads `resource_name`, which has the name and, with TP2, the constraints of the variant. */
function readName(draft: Draft, bytes: Uint8Array, start: number, end: number): void {
  const { name, constraints, fault } = readResourceName(bytes, start, end);
  if (name !== "") draft.name = name;
  if (constraints !== undefined) draft.constraints = constraints;
  if (fault !== undefined) draft.fault = fault;
}

/** Reads an encoded `ResourceName`. */
export function readResourceName(
  bytes: Uint8Array,
  start: number,
  end: number,
): { readonly name: string; readonly constraints?: Uint8Array; readonly fault?: string } {
  const found: { name: string; constraints?: Uint8Array; fault?: string } = { name: "" };
  const fault = "a resource_name in it cannot be read";
  const { outcome } = walkFields(
    bytes,
    (field, from, to) => {
      if (field === 1) found.name = readText(bytes, from, to) ?? ((found.fault = fault), "");
      if (field === 2 && to > from) found.constraints = bytes.subarray(from, to);
      return undefined;
    },
    { start, end },
  );
  return outcome === "complete" ? found : { ...found, fault };
}

/** Reads a `google.protobuf.Duration` in milliseconds. */
function readTtl(draft: Draft, bytes: Uint8Array, start: number, end: number): void {
  let ms = 0;
  const { outcome } = walkFields(
    bytes,
    (field, from, to, wireType) => {
      if (wireType !== WireType.VARINT) return undefined;
      if (field === 1) ms += varintValue(bytes, from, to) * 1_000;
      if (field === 2) ms += varintValue(bytes, from, to) / 1_000_000;
      return undefined;
    },
    { start, end },
  );
  if (outcome === "complete" && ms > 0 && ms <= Number.MAX_SAFE_INTEGER) draft.ttlMs = ms;
  else draft.fault = "its ttl is not a positive duration";
}

/** Returns the value of `CacheControl.do_not_cache`. */
function isSet(bytes: Uint8Array, start: number, end: number): boolean {
  let set = false;
  walkFields(
    bytes,
    (field, from, to) => {
      if (field === 1) set = varintValue(bytes, from, to) !== 0;
      return undefined;
    },
    { start, end },
  );
  return set;
}
