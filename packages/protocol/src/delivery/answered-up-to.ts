import type { Entry } from "@xdstp/core";
import type { Batch } from "./batch.ts";
import type { Exchange } from "./exchange.ts";

/** Part of a response: what was gathered. */
type Part = Pick<Batch, "base" | "asked">;

/** The revision up to which the client has answered what was sent, or taken to be sent; -1: it covers a requested resource, which may be older than any revision. */
export function answeredUpTo({ inFlight }: Exchange, taken: Part | undefined): number {
  return Math.min(baseOf(inFlight), baseOf(taken));
}

/** The revision after which the client may have missed something that it rejected, or that waits since `heldBackFrom`. */
export function rejectedFrom({ rejected }: Exchange, heldBackFrom: number): number {
  return Math.min(baseOf(rejected), heldBackFrom);
}

/** The revision up to which a client has all that came before this part. */
export function baseOf(part: Part | undefined): number {
  if (part === undefined) return Infinity;
  return part.asked ? -1 : part.base;
}

/** The client was sent this in a response that it rejected, and never had it before (S-ORD-4). It is not known which part of it was bad: texts are for people (S-ACK-15). */
export function isRejectedAndNew({ rejected }: Exchange, { resource, since }: Entry): boolean {
  return rejected !== undefined && resource !== undefined && since > rejected.base;
}
