import type { Entry } from "@xdstp/core";
import {
  type BeatOutcome,
  createLifetimes,
  joinArrays,
  type Lifetimes,
  sendHeartbeat,
  ttlsOf,
  coveringTopic,
  mergeEntries,
} from "@xdstp/protocol/server";
import { nameKey } from "@xdstp/uri";
import type { SotwState } from "./sotw-state.ts";

/** Keeps alive what the client has with this TTL: as it was sent last, or, where that was rejected, as it was accepted (S-TTL-2). In a full state the shortest TTL does it for all (S-TTL-8). */
export function beat(state: SotwState, ttlMs: number, overdue = false): BeatOutcome {
  const { lifetimes, exchange, type, context, watcher } = state;
  if (lifetimes === undefined) return "none";
  if (lifetimes.narrowed) narrow(state, lifetimes);
  const entries = exchange.rejected === undefined ? lifetimes.sent : lifetimes.accepted;
  const [shortest] = ttlsOf(entries);
  if (type?.fullStateInSotw !== true || shortest === ttlMs)
    return sendHeartbeat(state, entries, ttlMs, overdue);
  // What was shorter is not wanted any more: the next one takes over.
  if (shortest !== undefined) context.heartbeats.add(shortest, watcher);
  return "none";
}

/**
 * What was pending has been sent, or could not be: from now on this is what the client holds.
 * @param taken - What it would hold if nothing of what was taken waited
 */
export function noteHolding(
  state: SotwState,
  sent: readonly Entry[],
  taken: readonly Entry[] | undefined,
): void {
  if (state.type?.fullStateInSotw === true) {
    const holding = holdingAfter(state, sent);
    if (holding !== undefined) hold(state, holding);
    return;
  }
  const all = taken ?? holdingAfter(state, sent);
  if (all !== undefined) hold(state, withKept(state, all, sent));
}

/** A response has its last answer: the client has it, or after a rejection the state before, which may have another TTL. */
export function noteAnswer({ lifetimes, exchange, context, watcher }: SotwState): void {
  if (lifetimes === undefined) return;
  if (exchange.rejected === undefined) lifetimes.accepted = lifetimes.sent;
  else for (const ttlMs of ttlsOf(lifetimes.accepted)) context.heartbeats.add(ttlMs, watcher);
}

/** The client came back and holds all of this already: time has run on for it, so that a heartbeat is due (C-TTL-6). */
export function resume(state: SotwState, members: readonly Entry[]): void {
  if (state.profile.heartbeat === undefined || ttlsOf(members).length === 0) return;
  hold(state, members);
  if (state.lifetimes !== undefined) state.lifetimes.accepted = members;
  for (const ttlMs of ttlsOf(members)) beat(state, ttlMs, true);
}

/** All that the client holds once it has these entries; undefined where it holds nothing with a TTL. Nothing else may be pending. */
export function holdingAfter(
  state: SotwState,
  sent: readonly Entry[],
): readonly Entry[] | undefined {
  if (
    state.profile.heartbeat === undefined ||
    (state.lifetimes === undefined && ttlsOf(sent).length === 0)
  )
    return undefined;
  if (state.type?.fullStateInSotw === true) return state.shown;
  const settled = [...state.topics.values()].filter((topic) => !state.unsettled.has(topic));
  const arrays = settled
    .map((topic) => topic.members())
    .filter((members) => ttlsOf(members).length > 0);
  return joinArrays(arrays, (several) => mergeEntries(state, several));
}

const texts = new WeakMap<readonly Entry[], string>();

/** Whether the members of two full states have the same TTLs. */
export function haveEqualTtls(first: readonly Entry[], second: readonly Entry[]): boolean {
  return textOf(first) === textOf(second);
}

function textOf(entries: readonly Entry[]): string {
  let text = texts.get(entries);
  if (text === undefined)
    texts.set(
      entries,
      (text = entries
        .flatMap(({ name, resource }) =>
          resource?.ttlMs === undefined ? [] : [`${resource.ttlMs} ${name}`],
        )
        .sort()
        .join("\n")),
    );
  return text;
}

function hold(state: SotwState, holding: readonly Entry[]): void {
  const lifetimes = (state.lifetimes ??= createLifetimes());
  lifetimes.sent = holding;
  const ttls = state.type?.fullStateInSotw === true ? ttlsOf(holding).slice(0, 1) : ttlsOf(holding);
  for (const ttlMs of ttls) state.context.heartbeats.add(ttlMs, state.watcher);
}

/** Entries that wait the client has in the state that it was sent last. */
function withKept(
  state: SotwState,
  now: readonly Entry[],
  sent: readonly Entry[],
): readonly Entry[] {
  const { heldBack, lifetimes } = state;
  if (heldBack.size === 0) return now;
  const isWaiting = ({ name }: Entry): boolean => heldBack.has(nameKey(name));
  const before = mergeEntries(state, [
    (lifetimes?.sent ?? []).filter(isWaiting),
    sent.filter(isWaiting),
  ]);
  return [...now.filter((entry) => !isWaiting(entry)), ...before];
}

function narrow(state: SotwState, lifetimes: Lifetimes): void {
  lifetimes.narrowed = false;
  lifetimes.sent = stillCovered(state, lifetimes.sent);
  lifetimes.accepted = stillCovered(state, lifetimes.accepted);
}

function stillCovered(state: SotwState, entries: readonly Entry[]): readonly Entry[] {
  const rest = entries.filter(({ name }) => coveringTopic(state, name) !== undefined);
  return rest.length === entries.length ? entries : rest;
}
