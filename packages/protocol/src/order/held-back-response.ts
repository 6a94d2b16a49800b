import type { Entry } from "@xdstp/core";
import { baseOf } from "../delivery/answered-up-to.ts";
import { isRepetition, type Rejected } from "../delivery/exchange.ts";
import type { Gathered, ServedType } from "../stream/server-variant.ts";
import { heldBackOf, holdBack, leaveRejected, type HoldOptions } from "./hold-back.ts";
import type { Holds } from "./hold.ts";

/**
 * Returns a response without the entries that refer to a name which the client does not have
 * (S-ORD-2, S-ORD-4).
 * If names have waited, the response counts as requested: the client may have a state of them that
 * is older than everything that it was sent.
 * @returns the same object if nothing changes, and the same array if nothing waits, so that streams
 * share its frame
 */
export function withoutHeldBack<Response extends Gathered>(
  state: ServedType,
  gathered: Response,
  options: Omit<HoldOptions, "from">,
): Response {
  const asked = gathered.asked || state.heldBack.size > 0;
  const from = Math.min(baseOf(gathered), gathered.heldBase);
  const entries = holdBack(state, gathered.entries, { ...options, from });
  return entries === gathered.entries && asked === gathered.asked
    ? gathered
    : { ...gathered, asked, entries };
}

/**
 * Returns true if a response would only repeat rejected content. That then stays rejected,
 * including the part of it that waits now, until there is more to send (S-ACK-8).
 * @param gathered - The response before it leaves names out, and the rejected content that it
 * includes
 * @param sendable - Its entries that need not wait
 * @param before - The names that waited before
 */
export function staysRejected(
  state: ServedType,
  { entries, rejected }: Pick<Gathered, "entries"> & { readonly rejected?: Rejected | undefined },
  sendable: readonly Entry[],
  before: Holds,
): boolean {
  const { exchange, profile, dirty, heldBack } = state;
  const waiting = heldBackOf(entries, sendable, heldBack);
  if (!isRepetition(exchange, rejected, sendable, waiting, profile, dirty.size > 0)) return false;
  leaveRejected(state, before, rejected?.entries ?? []);
  return true;
}
