import type { Entry } from "@xdstp/core";
import { isGlob, nameKey } from "@xdstp/uri";
import type { ServedType, VariantHolding } from "../stream/server-variant.ts";
import type { BeatOutcome } from "../stream/heartbeats.ts";
import { mergeEntries } from "../subscription/subscriptions.ts";
import { joinArrays } from "./entries.ts";
import { createLifetimes, type Lifetimes, sendHeartbeat, ttlsOf } from "./lifetimes.ts";

/**
 * Sends a heartbeat for the resources with this TTL that the client has: as they were last sent or,
 * after a rejection, as they were accepted (S-TTL-2). In a full state the shortest TTL serves for
 * all resources (S-TTL-8).
 */
export function beat<State extends ServedType>(
  state: State,
  variant: VariantHolding<State>,
  ttlMs: number,
  overdue = false,
): BeatOutcome {
  const { lifetimes, exchange } = state;
  if (lifetimes === undefined) return "none";
  if (lifetimes.narrowed) narrow(state, variant, lifetimes);
  const entries = exchange.rejected === undefined ? lifetimes.sent : lifetimes.accepted;
  const ttls = beatingTtls(state, variant, entries);
  if (ttls.includes(ttlMs)) return sendHeartbeat(state, entries, ttlMs, overdue);
  // The resources with the shorter TTL are not subscribed any more: the heartbeats of the next TTL
  // replace these.
  keepAlive(state, ttls);
  return "none";
}

/**
 * Returns everything that the client has once it is sent these entries. undefined: none of it has a
 * TTL, or all of it is the full state that is sent. Nothing else may be pending.
 */
export function holdingAfter<State extends ServedType>(
  state: State,
  variant: VariantHolding<State>,
  sent: readonly Entry[],
): readonly Entry[] | undefined {
  if (!mayHold(state, sent) || variant.responses.fullState(state) !== undefined) return undefined;
  const arrays = [...state.topics.values()]
    .filter(
      // Heartbeats for members of globs are left out if the client rejects them (B-TTL-10).
      (topic) =>
        !state.unsettled.has(topic) &&
        (state.quirks.globHeartbeats || !isGlob(topic.interest.name)),
    )
    .map((topic) => topic.members())
    .filter((members) => ttlsOf(members).length > 0);
  return joinArrays(arrays, (several) => mergeEntries(state, several));
}

/**
 * Notes what the client has from now on: what was pending has been sent, or could not be sent.
 * @param taken - What the client would have if none of what was taken waited
 */
export function noteHolding<State extends ServedType>(
  state: State,
  variant: VariantHolding<State>,
  sent: readonly Entry[],
  taken: readonly Entry[] | undefined,
): void {
  const holding = mayHold(state, sent) ? variant.responses.fullState(state) : undefined;
  const all = holding ?? taken ?? holdingAfter(state, variant, sent);
  if (all === undefined) return;
  const lifetimes = (state.lifetimes ??= createLifetimes());
  lifetimes.sent = holding ?? withKept(state, variant, lifetimes, all, sent);
  const ttls = beatingTtls(state, variant, lifetimes.sent);
  keepAlive(state, ttls);
  if (!lifetimes.resumed) return;
  lifetimes.resumed = false;
  for (const ttlMs of ttls) beat(state, variant, ttlMs, true);
}

/**
 * Notes the last answer to a response: the client has its state or, after a rejection, the state
 * before it, which may have other TTLs.
 */
export function noteHoldingAnswered(state: ServedType): void {
  const { lifetimes, exchange } = state;
  if (lifetimes === undefined) return;
  if (exchange.rejected === undefined) lifetimes.accepted = lifetimes.sent;
  else keepAlive(state, ttlsOf(lifetimes.accepted));
}

function mayHold({ profile, lifetimes }: ServedType, sent: readonly Entry[]): boolean {
  return profile.heartbeat !== undefined && (lifetimes !== undefined || ttlsOf(sent).length > 0);
}

function beatingTtls<State extends ServedType>(
  state: State,
  variant: VariantHolding<State>,
  entries: readonly Entry[],
): readonly number[] {
  const ttls = ttlsOf(entries);
  return ttls.length > 1 && variant.responses.fullState(state) !== undefined
    ? ttls.slice(0, 1)
    : ttls;
}

function keepAlive({ context, watcher }: ServedType, ttls: readonly number[]): void {
  for (const ttlMs of ttls) context.heartbeats.add(ttlMs, watcher);
}

/**
 * Returns the entries that the client has. For names that wait, and for removals that wait, it has
 * the state that it was last sent.
 */
function withKept<State extends ServedType>(
  state: State,
  variant: VariantHolding<State>,
  lifetimes: Lifetimes,
  now: readonly Entry[],
  sent: readonly Entry[],
): readonly Entry[] {
  const removals = variant.removals.waiting(state);
  if (removals.length + state.heldBack.size === 0) return now;
  const stays = new Set([...state.heldBack.keys(), ...removals.map(({ name }) => nameKey(name))]);
  const isStaying = ({ name }: Entry): boolean => stays.has(nameKey(name));
  const before = mergeEntries(state, [lifetimes.sent.filter(isStaying), sent.filter(isStaying)]);
  return [...now.filter((entry) => !isStaying(entry)), ...before];
}

function narrow<State extends ServedType>(
  state: State,
  variant: VariantHolding<State>,
  lifetimes: Lifetimes,
): void {
  const stillCovered = (entries: readonly Entry[]): readonly Entry[] => {
    const rest = entries.filter(({ name }) => variant.names.isCovered(state, name));
    return rest.length === entries.length ? entries : rest;
  };
  lifetimes.narrowed = false;
  lifetimes.sent = stillCovered(lifetimes.sent);
  lifetimes.accepted = stillCovered(lifetimes.accepted);
}
