import { lengthDelimited } from "@xdstp/core/wire";
import type { Message } from "@xdstp/core";
import { envelop } from "../wire/envelop.ts";

/** The nonce is field 5 of both discovery responses. */
const NONCE_FIELD = 5;

/** An encoded response: a body and, as its last field, the nonce. Shared by all streams in the same state, never written again. */
export interface Frame extends Message {
  /** The nonce that it bears. */
  readonly nonce: number;
  /** Length of `bytes` without the nonce. */
  readonly bodyLength: number;
}

/** Encodes a response from its fields, under a nonce of its own. */
export function createFrame(fields: readonly Uint8Array[]): Frame {
  const nonce = nextNonce();
  const tail = lengthDelimited(NONCE_FIELD, String(nonce));
  const { bytes, enveloped } = envelop([...fields, tail]);
  return { bytes, enveloped, nonce, bodyLength: bytes.length - tail.length };
}

/** The same response under a new nonce. */
export function restampFrame(frame: Frame): Frame {
  return createFrame([frame.bytes.subarray(0, frame.bodyLength)]);
}

let last = 0;

/**
 * The next nonce of this process. One counter for all streams, drawn when a frame is encoded, so that one frame serves every stream in the same state (S-NONCE-1).
 */
export function nextNonce(): number {
  return ++last;
}
