import { requestFields, type RequestFields, type VariantName } from "./request-fields.ts";
import { varintEnd, varintValue } from "@xdstp/core/wire";

/**
 * The result of {@link scanRequest}. All calls share one object: read it before the next call.
 * If `plain` is false, the other fields have no meaning.
 */
export interface RequestScan {
  /** True if the message is a plain ACK: then the other fields describe all of it. */
  readonly plain: boolean;
  /** The start of the type URL. If there is none, start and end are 0. */
  readonly typeStart: number;
  /** The end of the type URL. */
  readonly typeEnd: number;
  /** The nonce as a number; -1: it is empty or absent. */
  readonly nonce: number;
  /**
   * SotW: the start of the `resource_names` fields, their tags and lengths included. If there are
   * none, start and end are 0.
   */
  readonly namesStart: number;
  /** The end of the `resource_names` fields. */
  readonly namesEnd: number;
}

/** The state of a scan. */
interface Progress extends Writable<RequestScan> {
  fields: RequestFields;
  /** A bit for each field number that has occurred. */
  seen: number;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const MAX_DIGITS = 15;
/** The greatest number of bytes of a length: a longer one is beyond the limits of any message. */
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
 * A plain message has only a type URL, a nonce, `version_info` (SotW) and one run of
 * `resource_names` (SotW), in any order. Each field except `resource_names` occurs at most once.
 * All texts are ASCII, and the nonce has at most 15 decimal digits without leading zeros.
 * Every other message (with a node, an error, subscriptions, unknown fields, unusual varints, or
 * cut off) is not plain: decode it in full.
 * The state machines call this first for each message.
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

/** Returns where a length ends; -1: it is too long, or not in its shortest form. */
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

/** Notes a name. Names have to be in one run, so that they can be compared as bytes. */
function readName(at: number, next: number): boolean {
  if (scan.namesEnd === 0) scan.namesStart = at;
  else if (scan.namesEnd !== at) return false;
  scan.namesEnd = next;
  return true;
}

/**
 * Reads a nonce in the decimal form of this server. Other texts with the same numeric value are not
 * accepted.
 */
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

/** Returns true for ASCII, which is valid UTF-8. The decoder checks all other texts. */
function isAscii(message: Uint8Array, start: number, end: number): boolean {
  let bits = 0;
  for (let i = start; i < end; i++) bits |= message[i] ?? 0;
  return bits < 0x80;
}
