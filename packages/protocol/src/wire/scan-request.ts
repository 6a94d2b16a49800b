import { requestFields, type RequestFields, type VariantName } from "./request-fields.ts";
import { varintEnd, varintValue } from "@xdstp/core/wire";

/**
 * What {@link scanRequest} found. One object for all calls: read it before the next call.
 * Where `plain` is false the other fields mean nothing.
 */
export interface RequestScan {
  /** The message is a plain ACK: everything in it is described here. */
  readonly plain: boolean;
  /** Where the type URL lies; both 0 where there is none. */
  readonly typeStart: number;
  /** Where the type URL ends; 0 where there is none. */
  readonly typeEnd: number;
  /** The nonce as a number; -1 where it is empty or absent. */
  readonly nonce: number;
  /** SotW: where the `resource_names` fields lie, tags and lengths included; both 0 where there are none. */
  readonly namesStart: number;
  /** Where the `resource_names` fields end; 0 where there are none. */
  readonly namesEnd: number;
}

/** What a scan knows while it goes on. */
interface Progress extends Writable<RequestScan> {
  fields: RequestFields;
  /** A bit for each field number met. */
  seen: number;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const MAX_DIGITS = 15;
/** A length of more bytes cannot be met below the limits of any message. */
const MAX_LENGTH_BYTES = 4;
const scan: Progress = {
  fields: requestFields.sotw,
  seen: 0,
  plain: false,
  typeStart: 0,
  typeEnd: 0,
  nonce: -1,
  namesStart: 0,
  namesEnd: 0,
};

/**
 * Reads a request as far as a plain ACK needs, in one pass and without allocation. Never throws.
 *
 * Plain is a message of type URL, nonce, `version_info` (SotW) and one run of `resource_names` (SotW), in any order, single ones at most once, all in ASCII, the nonce in at most 15 decimal digits without leading zeros.
 * Everything else (a node, an error, subscriptions, unknown fields, unusual varints, truncation) is not plain: decode it in full.
 * The state machines call it for each message first.
 */
export function scanRequest(message: Uint8Array, variant: VariantName): RequestScan {
  scan.fields = requestFields[variant];
  scan.nonce = -1;
  scan.typeStart = scan.typeEnd = scan.namesStart = scan.namesEnd = scan.seen = 0;
  scan.plain = readFields(message);
  return scan;
}

function readFields(message: Uint8Array): boolean {
  const end = message.length;
  let at = 0;
  while (at < end) {
    const tag = message[at] ?? 0;
    if ((tag & 0x87) !== 2) return false;
    const start = lengthEnd(message, at + 1, end);
    if (start < 0) return false;
    const next = start + varintValue(message, at + 1, start);
    if (next > end || !readField(message, at, start, next)) return false;
    at = next;
  }
  return true;
}

/** Where a length ends; -1 where it is too long or not in its shortest form. */
function lengthEnd(message: Uint8Array, at: number, end: number): number {
  const next = varintEnd(message, at, end);
  if (next < 0 || next > at + MAX_LENGTH_BYTES) return -1;
  return next > at + 1 && message[next - 1] === 0 ? -1 : next;
}

function readField(message: Uint8Array, at: number, start: number, next: number): boolean {
  const { names, type, nonce, version } = scan.fields;
  const field = (message[at] ?? 0) >> 3;
  if (field === 0 || (field !== names && field !== type && field !== nonce && field !== version))
    return false;
  if (!isAscii(message, start, next)) return false;
  if (field === names) return readName(at, next);
  if ((scan.seen & (1 << field)) !== 0) return false;
  scan.seen |= 1 << field;
  if (field === nonce) return readNonce(message, start, next);
  if (field !== type) return true;
  scan.typeStart = start;
  scan.typeEnd = next;
  return true;
}

/** Names lie in one run, so that they can be compared as bytes. */
function readName(at: number, next: number): boolean {
  if (scan.namesEnd === 0) scan.namesStart = at;
  else if (scan.namesEnd !== at) return false;
  scan.namesEnd = next;
  return true;
}

/** The decimal number of our own nonces, and nothing that is merely equal to one as a number. */
function readNonce(message: Uint8Array, start: number, next: number): boolean {
  if (start === next) return true;
  if (next - start > MAX_DIGITS || (message[start] === 0x30 && next - start > 1)) return false;
  let value = 0;
  for (let i = start; i < next; i++) {
    const digit = (message[i] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return false;
    value = value * 10 + digit;
  }
  scan.nonce = value;
  return true;
}

/** ASCII is valid UTF-8; whether anything else is, the decoder says. */
function isAscii(message: Uint8Array, start: number, end: number): boolean {
  let bits = 0;
  for (let i = start; i < end; i++) bits |= message[i] ?? 0;
  return bits < 0x80;
}
