import { lengthDelimited } from "@xdstp/core/wire";
import type { Message } from "@xdstp/core";
import { envelop } from "../wire/envelop.ts";

/** The field number of the nonce, equal in both discovery responses. */
const NONCE_FIELD = 5;

/**
 * An encoded response: a body and, as its last field, the nonce. All streams in the same state
 * share it, so it is never written again.
 */
export interface Frame extends Message {
  /** Its nonce. */
  readonly nonce: number;
  /** The length of `bytes` without the nonce. */
  readonly bodyLength: number;
}

/** Encodes a response from its fields, with a new nonce. */
export function createFrame(fields: readonly Uint8Array[]): Frame {
  const nonce = nextNonce();
  const tail = lengthDelimited(NONCE_FIELD, String(nonce));
  const { bytes, enveloped } = envelop([...fields, tail]);
  return { bytes, enveloped, nonce, bodyLength: bytes.length - tail.length };
}

/** Returns the same response with a new nonce. */
export function restampFrame(frame: Frame): Frame {
  return createFrame([frame.bytes.subarray(0, frame.bodyLength)]);
}

let last = 0;

/**
 * Returns the next nonce of this process. All streams share one counter, and a nonce is drawn when
 * a frame is encoded, so that one frame can serve every stream in the same state (S-NONCE-1).
 */
export function nextNonce(): number {
  return ++last;
}
