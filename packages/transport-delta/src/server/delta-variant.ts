import { type Entry, type Interest, StatusCode, type Topic } from "@xdstp/core";
import {
  addHash,
  createSmallMap,
  createSmallSet,
  type FrameProfile,
  hashOf,
  isLongerThan,
  NO_HOLDS,
  noteNothingSent,
  type ServerVariant,
  type StreamLimits,
  type TypeSetup,
  topicsOf,
  stateHash,
  staysRejected,
  withoutHeldBack,
  encodeResponse,
  sendResponse,
  versionOf,
} from "@xdstp/protocol/server";
import { nameKey } from "@xdstp/uri";
import { answerAgain } from "./answer-again.ts";
import type { DeltaRequest } from "./decode-request.ts";
import {
  type BeforeTaken,
  type DeltaState,
  NONE_HELD,
  type Gathered,
  copyPending,
  putBack,
} from "./delta-state.ts";
import { hasLeftovers } from "./first-answer.ts";
import { gather, takeHeld } from "./gather.ts";
import { doubt, heldListOf } from "./held-by-client.ts";
import { heldBaseOf, heldEntries, heldFromOf } from "./held-removals.ts";
import { endKnownMembers, oweKnownMembers } from "./known-members.ts";
import { isCovered, lookUp } from "./lookup.ts";
import { endOpenError, oweOpenError } from "./open-error.ts";
import { leavingWith, locate, subscribe } from "./subscribe.ts";
import { unlocate, unsubscribe, oweLost } from "./unsubscribe.ts";
import { noteAliases } from "./alias.ts";

/** The functions that serve a type in delta. */
export type DeltaVariant = ServerVariant<DeltaRequest, DeltaState, Gathered, BeforeTaken>;

/**
 * Creates the functions that serve types in delta. `profileOf` returns the profile that encodes the
 * entries of a type for a client.
 */
export function createDeltaVariant(profileOf: (setup: TypeSetup) => FrameProfile): DeltaVariant {
  return {
    createState: (setup) => createState(setup, profileOf(setup)),
    requests: {
      subscribe: takeRequest,
      isPlainAck: (_, __, { nonce }) => nonce >= 0,
      settle,
      hasMoved,
      noteAnswer(state, answered) {
        if (answered?.narrowed === true) oweLost(state, answered.entries);
      },
    },
    responses: {
      isPending: ({ answered, unsettled }, hasUpdates) =>
        hasUpdates || (!answered && unsettled.size === 0),
      gather,
      copyPending,
      putBack,
      wholeOptions: (state, { origin }) => ({
        isNeverEmpty: !state.answered || answersWildcard(state, origin),
      }),
      deliver,
      fullState: () => undefined,
    },
    removals: {
      form: () => "said",
      from: (state) => Math.min(heldFromOf(state), hasLeftovers(state) ? state.sent : Infinity),
      base: (state) => (hasLeftovers(state) ? NONE_HELD : heldBaseOf(state)),
      waiting: heldEntries,
      gather: gatherRemovals,
    },
    names: {
      isCovered,
      lookUp,
      newest: (state, name) => (isCovered(state, name) ? lookUp(state, name) : undefined),
      mayHaveFromBefore: ({ initial }, name) => initial?.has(nameKey(name)) === true,
      isToBeSent,
      warm,
    },
    close: () => undefined,
  };
}

function createState(setup: TypeSetup, profile: FrameProfile): DeltaState {
  const { context, host, stream, typeUrl, watcher, exchange, type, rank, quirks } = setup;
  return {
    context,
    host,
    stream,
    typeUrl,
    profile,
    watcher,
    exchange,
    type,
    rank,
    quirks,
    topics: createSmallMap(),
    located: undefined,
    counted: undefined,
    globs: 0,
    nameLength: 0,
    aliased: undefined,
    sent: 0,
    answered: false,
    unsettled: createSmallMap(),
    unanswered: createSmallMap(),
    unaccepted: createSmallSet(),
    openErrors: undefined,
    knownMembers: undefined,
    dirty: createSmallSet(),
    owed: createSmallSet(),
    held: [],
    initial: undefined,
    initialShared: false,
    lifetimes: undefined,
    taken: undefined,
    heldBack: NO_HOLDS,
  };
}

function takeRequest(state: DeltaState, request: DeltaRequest, isFirst: boolean): boolean {
  const { context, host } = state;
  const excess =
    longListOf(context.limits, request) ??
    (isFirst ? excessOf(context.limits, request.initialVersions) : undefined);
  if (excess !== undefined) {
    host.end(StatusCode.RESOURCE_EXHAUSTED, ...excess);
    return false;
  }
  if (countOf(request) > 0) host.thaw();
  if (isFirst) begin(state, request);
  else if (state.initial !== undefined) doubt(state, namesIn(request.subscribe, request.locate)); // S-RECON-5: names that are subscribed after the first message are sent, whatever version the client has listed
  const leaving = leavingWith(state, request);
  if (
    !request.subscribe.every((name) => subscribe(state, name, leaving)) ||
    !request.locate.every((interest) => locate(state, interest, leaving))
  )
    return false;
  for (const name of request.unsubscribe) unsubscribe(state, name);
  for (const interest of request.unlocate) unlocate(state, interest);
  report(state, request);
  return !isFirst && request.nonce !== "";
}

/**
 * Handles the first message of a type: the names that the client lists (S-RECON-5), and the
 * wildcard that empty lists mean (S-WILD-3, S-WILD-6).
 */
function begin(state: DeltaState, request: DeltaRequest): void {
  const { initialVersions } = request;
  if (initialVersions.size > 0) {
    state.initial = heldListOf(initialVersions);
    state.initialShared = true;
  }
  const wildcard = (state.type?.legacyWildcard ?? true) && state.quirks.legacyWildcard;
  if (wildcard && countOf(request) === 0) subscribe(state, "*");
}

function settle(state: DeltaState, topic: Topic): void {
  const { unsettled, unanswered, dirty } = state;
  if (!topic.settled) {
    oweOpenError(state, topic);
    oweKnownMembers(state, topic);
    return;
  }
  const since = unsettled.get(topic) ?? NONE_HELD;
  unsettled.delete(topic);
  endOpenError(state, topic);
  if (endKnownMembers(state, topic)) dirty.add(topic);
  else unanswered.set(topic, since);
}

function gatherRemovals(state: DeltaState, removeUpTo: number): Gathered | undefined {
  const entries = takeHeld(state, removeUpTo);
  if (entries.length === 0) return undefined;
  const named = new Set(entries.map(({ name }) => name));
  return {
    entries,
    origin: { answered: new Set(), changed: new Set(), named },
    base: state.exchange.accepted,
    asked: false,
    heldBase: Infinity,
    label: undefined,
    hash: stateHash(state, []),
  };
}

/**
 * Sends a response. An empty one is sent only as the first response, when no names are pending, or
 * to answer a wildcard (S-RECON-6, S-WILD-7, S-ACK-11).
 */
function deliver(state: DeltaState, gathered: Gathered, isLimited: boolean): readonly Entry[] {
  const { answered, unsettled, heldBack: before } = state;
  const sendable = withoutHolds(state, gathered, isLimited);
  const { entries } = sendable;
  if (staysRejected(state, gathered, entries, before)) return entries;
  const due = (unsettled.size === 0 && !answered) || answersWildcard(state, gathered.origin);
  const isSent = (entries.length > 0 || due) && send(state, sendable, due);
  if (!isSent) noteNothingSent(state);
  return entries;
}

/**
 * Leaves out the entries that refer to a name which the client does not have, also from the version
 * (S-ORD-2, S-ORD-4).
 */
function withoutHolds(state: DeltaState, gathered: Gathered, isLimited: boolean): Gathered {
  const held = withoutHeldBack(state, gathered, { isLimited });
  const { entries } = held;
  if (entries === gathered.entries) return held;
  const [before, after] = [new Set(gathered.entries), new Set(entries)];
  const left = hashOf(gathered.entries.filter((entry) => !after.has(entry)));
  const earlier = entries.filter((entry) => !before.has(entry));
  const { origin } = gathered;
  return {
    ...held,
    origin: { ...origin, named: new Set([...origin.named, ...earlier.map(({ name }) => name)]) },
    label: undefined,
    hash: addHash(addHash(gathered.hash, -left), hashOf(earlier)),
  };
}

function answersWildcard(state: DeltaState, { answered }: Gathered["origin"]): boolean {
  return topicsOf(state, "*").some((wildcard) => answered.has(wildcard));
}

function isToBeSent(state: DeltaState, topic: Topic, { name, revision }: Entry): boolean {
  const { unsettled, unanswered, dirty, owed, heldBack, taken, sent } = state;
  return (
    unsettled.has(topic) ||
    unanswered.has(topic) ||
    owed.has(name) ||
    (heldBack.size > 0 && heldBack.has(nameKey(name))) ||
    taken?.gathered.origin.answered.has(topic) === true ||
    taken?.gathered.origin.named.has(name) === true ||
    (taken?.gathered.origin.changed.has(topic) === true && revision > taken.pending.sent) ||
    (dirty.has(topic) && revision > sent) ||
    state.held.some(({ entries }) => entries.some((entry) => entry.name === name))
  );
}

function warm(state: DeltaState, name: string): void {
  const own = topicsOf(state, nameKey(name));
  for (const topic of own) answerAgain(state, topic);
  if (own.length === 0 && isCovered(state, name)) state.owed.add(name);
}

/**
 * Returns true if something has changed since the last response: changes are pending, a topic that
 * was requested again has moved, or newer removals wait.
 */
function hasMoved(state: DeltaState): boolean {
  const {
    dirty,
    unanswered,
    sent,
    exchange: { inFlight },
  } = state;
  if (dirty.size > 0 || inFlight === undefined) return dirty.size > 0;
  if (heldEntries(state).some(({ revision }) => revision > inFlight.upTo)) return true;
  return unanswered
    .keys()
    .some(
      (topic) =>
        topic.head > sent &&
        (inFlight.origin.answered.has(topic) || inFlight.origin.changed.has(topic)),
    );
}

function report(
  { context, stream, typeUrl }: DeltaState,
  { subscribe: plain, unsubscribe: ended, locate: located, unlocate: unlocated }: DeltaRequest,
): void {
  const { emit } = context;
  if (emit === undefined) return;
  const added = namesIn(plain, located);
  const dropped = namesIn(ended, unlocated);
  if (added.length > 0 || dropped.length > 0)
    emit({ kind: "subscribe", stream, typeUrl, added, dropped });
}

/**
 * Returns why the lists of a request are too long. They may not be longer than the number of
 * subscriptions allowed, even if they repeat one name or unsubscribe names that were never
 * subscribed.
 */
function longListOf(
  { subscriptions }: StreamLimits,
  { subscribe: added, unsubscribe: dropped, locate: located, unlocate: unlocated }: DeltaRequest,
): readonly [message: string, limit: keyof StreamLimits] | undefined {
  if (added.length + located.length > subscriptions)
    return [`more than ${subscriptions} subscriptions of one type`, "subscriptions"];
  return dropped.length + unlocated.length > subscriptions
    ? [`more than ${subscriptions} names to unsubscribe in one request`, "subscriptions"]
    : undefined;
}

/** Returns why a list of versions exceeds a limit (S-LIM-4). */
function excessOf(
  { heldVersions, nameLength }: StreamLimits,
  initial: ReadonlyMap<string, string>,
): readonly [message: string, limit: keyof StreamLimits] | undefined {
  if (initial.size > heldVersions)
    return [`more than ${heldVersions} initial_resource_versions`, "heldVersions"];
  if (fitting.get(initial) === nameLength) return undefined;
  for (const name of initial.keys())
    if (isLongerThan(name, nameLength))
      return [
        `a name in initial_resource_versions is longer than ${nameLength} bytes`,
        "nameLength",
      ];
  fitting.set(initial, nameLength);
  return undefined;
}

/**
 * Lists of versions, each with the length in bytes that no name in it exceeds. Many clients send
 * the same list, which is one object.
 */
const fitting = new WeakMap<ReadonlyMap<string, string>, number>();

function countOf({
  subscribe: added,
  unsubscribe: dropped,
  locate: located,
  unlocate: unlocated,
}: DeltaRequest): number {
  return added.length + dropped.length + located.length + unlocated.length;
}

/** Returns names with and without dynamic parameters. */
function namesIn(names: readonly string[], interests: readonly Interest[]): readonly string[] {
  return interests.length === 0 ? names : [...names, ...interests.map(({ name }) => name)];
}

/**
 * Sends what was gathered as one response. A response that is `due` is sent empty if none of its
 * entries can be sent (S-SIZE-4).
 * @returns true if anything was sent
 */
function send(
  state: DeltaState,
  { entries, origin, base, asked, label, hash }: Gathered,
  due: boolean,
): boolean {
  const frames = encodeResponse(state, entries, label ?? versionOf(hash), due);
  const isSent = frames.list.length > 0;
  if (isSent) state.answered = true;
  sendResponse(state, { frames, entries, origin, base, asked, upTo: state.sent });
  if (isSent) noteAliases(state, entries);
  return isSent;
}
