import type { Entry } from "@xdstp/core";
import type { Batch } from "./batch.ts";
import type { Exchange } from "./exchange.ts";

/** The members of a response that say from where it starts. */
type Part = Pick<Batch, "base" | "asked">;

/**
 * Returns the revision up to which the client has answered what was sent, and what was taken to be
 * sent later. -1: this includes a requested resource, which may be older than any revision.
 * Infinity: nothing is unanswered or taken.
 */
export function answeredUpTo({ inFlight }: Exchange, taken: Part | undefined): number {
  return Math.min(baseOf(inFlight), baseOf(taken));
}

/**
 * Returns the revision after which the client may have missed something: what it rejected, or what
 * waits since `heldBackFrom`. Infinity: nothing.
 */
export function rejectedFrom({ rejected }: Exchange, heldBackFrom: number): number {
  return Math.min(baseOf(rejected), heldBackFrom);
}

/**
 * Returns the revision up to which the client had everything before this response. -1: the response
 * answers a request. Infinity: there is no response.
 */
export function baseOf(part: Part | undefined): number {
  if (part === undefined) return Infinity;
  return part.asked ? -1 : part.base;
}

/**
 * Returns true if the client was sent this entry in a response that it rejected, and never had the
 * resource before (S-ORD-4). Which part of the response was bad is not known, since the text of a
 * NACK is for people (S-ACK-15).
 */
export function isRejectedAndNew({ rejected }: Exchange, { resource, since }: Entry): boolean {
  return rejected !== undefined && resource !== undefined && since > rejected.base;
}
