import type { Entry, Topic } from "@xdstp/core";
import {
  type BeatOutcome,
  createLifetimes,
  joinArrays,
  type Lifetimes,
  sendHeartbeat,
  ttlsOf,
  mergeEntries,
} from "@xdstp/protocol/server";
import { isGlob, nameKey } from "@xdstp/uri";
import type { DeltaState } from "./delta-state.ts";
import { heldEntries } from "./held-removals.ts";
import { isCovered } from "./lookup.ts";

/** Keeps alive what the client has with this TTL: as it was sent last, or, where that was rejected, as it was accepted (S-TTL-2). */
export function beat(state: DeltaState, ttlMs: number, overdue = false): BeatOutcome {
  const { lifetimes, exchange } = state;
  if (lifetimes === undefined) return "none";
  if (lifetimes.narrowed) narrow(state, lifetimes);
  return sendHeartbeat(
    state,
    exchange.rejected === undefined ? lifetimes.sent : lifetimes.accepted,
    ttlMs,
    overdue,
  );
}

/**
 * What was pending has been sent, or could not be: from now on this is what the client holds.
 * @param taken - What it would hold if nothing of what was taken waited
 */
export function noteHolding(
  state: DeltaState,
  sent: readonly Entry[],
  taken: readonly Entry[] | undefined,
): void {
  const all = taken ?? holdingAfter(state, sent);
  if (all === undefined) return;
  const holding = withKept(state, all, sent);
  const lifetimes = (state.lifetimes ??= createLifetimes());
  lifetimes.sent = holding;
  for (const ttlMs of ttlsOf(holding)) state.context.heartbeats.add(ttlMs, state.watcher);
  if (!lifetimes.resumed) return;
  lifetimes.resumed = false;
  for (const ttlMs of ttlsOf(holding)) beat(state, ttlMs, true);
}

/** A response has its last answer: the client has it, or after a rejection the state before, which may have another TTL. */
export function noteAnswer({ lifetimes, exchange, context, watcher }: DeltaState): void {
  if (lifetimes === undefined) return;
  if (exchange.rejected === undefined) lifetimes.accepted = lifetimes.sent;
  else for (const ttlMs of ttlsOf(lifetimes.accepted)) context.heartbeats.add(ttlMs, watcher);
}

/** The client came back and holds of these all but the `rest` already: time has run on for them, so that a heartbeat is due (C-TTL-6). */
export function resume(state: DeltaState, members: readonly Entry[], rest: readonly Entry[]): void {
  if (state.profile.heartbeat === undefined || ttlsOf(members).length === 0) return;
  const lifetimes = (state.lifetimes ??= createLifetimes());
  const lacks = new Set(rest);
  lifetimes.resumed = true;
  lifetimes.accepted = mergeEntries(state, [
    lifetimes.accepted,
    members.filter((entry) => !lacks.has(entry)),
  ]);
}

/** All that the client holds once it has these entries; undefined where it holds nothing with a TTL. Nothing else may be pending. */
export function holdingAfter(
  state: DeltaState,
  sent: readonly Entry[],
): readonly Entry[] | undefined {
  if (
    state.profile.heartbeat === undefined ||
    (state.lifetimes === undefined && ttlsOf(sent).length === 0)
  )
    return undefined;
  const arrays = [...state.topics.values()]
    .filter((topic) => isKeptAlive(state, topic))
    .map((topic) => topic.members());
  return joinArrays(
    arrays.filter((members) => ttlsOf(members).length > 0),
    (several) => mergeEntries(state, several),
  );
}

/** Members of globs are, unless the client rejects that (B-TTL-10). */
function isKeptAlive({ unsettled, quirks }: DeltaState, topic: Topic): boolean {
  return !unsettled.has(topic) && (quirks.globHeartbeats || !isGlob(topic.interest.name));
}

/** Entries that wait, and removals that wait, the client has in the state that it was sent last. */
function withKept(
  state: DeltaState,
  now: readonly Entry[],
  sent: readonly Entry[],
): readonly Entry[] {
  const { held, heldBack, lifetimes } = state;
  if (held.length + heldBack.size === 0) return now;
  const stays = new Set(
    [...heldBack.keys(), ...heldEntries(state).map(({ name }) => name)].map(nameKey),
  );
  const isStaying = ({ name }: Entry): boolean => stays.has(nameKey(name));
  const before = mergeEntries(state, [
    (lifetimes?.sent ?? []).filter(isStaying),
    sent.filter(isStaying),
  ]);
  return [...now.filter((entry) => !isStaying(entry)), ...before];
}

function narrow(state: DeltaState, lifetimes: Lifetimes): void {
  lifetimes.narrowed = false;
  lifetimes.sent = stillCovered(state, lifetimes.sent);
  lifetimes.accepted = stillCovered(state, lifetimes.accepted);
}

function stillCovered(state: DeltaState, entries: readonly Entry[]): readonly Entry[] {
  const rest = entries.filter(({ name }) => isCovered(state, name));
  return rest.length === entries.length ? entries : rest;
}
