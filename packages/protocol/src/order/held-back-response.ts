import type { Entry } from "@xdstp/core";
import { baseOf } from "../delivery/answered-up-to.ts";
import { isRepetition, type Rejected } from "../delivery/exchange.ts";
import type { Gathered, ServedType } from "../stream/server-variant.ts";
import { heldBackOf, holdBack, leaveRejected, type HoldOptions } from "./hold-back.ts";
import type { Holds } from "./hold.ts";

/**
 * Returns a response without the entries that refer to a name which the client does not have (S-ORD-2, S-ORD-4).
 * Of what has waited the client may have a state that is older than all that it was sent: then the response counts as requested.
 * @returns the same object where nothing changes, and the same array where nothing waits, so that streams share its frame
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
 * Returns whether a response would only repeat what was rejected: then that stays rejected until there is more to send (S-ACK-8), also what of it waits now.
 * @param gathered - The response before any of its names wait, and what was rejected and starts again in it
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
