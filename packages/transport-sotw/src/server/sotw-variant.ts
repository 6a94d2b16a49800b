import type { Entry, Topic } from "@xdstp/core";
import {
  announcesTtl,
  byName,
  createSmallMap,
  createSmallSet,
  hashBytes,
  hashOf,
  isNewestNonce,
  NO_HOLDS,
  noteNothingSent,
  parseNonce,
  sayTheSame,
  staysRejected,
  type ServerVariant,
  takesWrapped,
  type TypeSetup,
  coveringTopic,
  topicsOf,
  encodeResponse,
  sendResponse,
} from "@xdstp/protocol/server";
import { nameKey } from "@xdstp/uri";
import type { SotwRequest } from "./decode-request.ts";
import {
  currentVersion,
  heldBaseOf,
  isComplete,
  isWithheld,
  gatherFullState,
} from "./gather-full-state.ts";
import { hashWanted } from "./hash-list.ts";
import { haveEqualTtls, resume } from "./heartbeat.ts";
import type { ClientForm, ProfileOf } from "./profile-of.ts";
import type { BeforeTaken, SotwState, Gathered } from "./sotw-state.ts";
import { endStay } from "./stay.ts";
import { narrow, subscribe, unsubscribe } from "./subscribe.ts";
import { isShown, mustShow, withoutHolds } from "./without-holds.ts";
import { gatherChanges, gatherEmpty } from "./gather-changes.ts";
import { hasNewErrors, withoutToldErrors } from "./compare-states.ts";

/** The functions that serve a type in SotW. */
export type SotwVariant = ServerVariant<SotwRequest, SotwState, Gathered, BeforeTaken>;

/**
 * Creates the functions that serve types in SotW. `profileOf` returns the profile that encodes the
 * entries of a type for clients that support the same.
 */
export function createSotwVariant(profileOf: ProfileOf): SotwVariant {
  return {
    createState: (setup) => createState(setup, profileOf),
    requests: {
      subscribe(state, request, isFirst) {
        if (request.usesLocators)
          state.profile = profileOf(state.typeUrl, { ...formOf(state), wrap: true });
        return takeRequest(state, request, isFirst);
      },
      isPlainAck,
      settle(state, topic) {
        if (!topic.settled) return;
        state.unsettled.delete(topic);
        state.unanswered.add(topic);
      },
      hasMoved,
      noteAnswer(state) {
        if (state.exchange.rejected === undefined) state.kept = state.shown;
      },
    },
    responses: {
      isPending: (state, hasUpdates) =>
        hasUpdates && (!isFullState(state) || (isComplete(state) && !isWithheld(state))),
      gather,
      copyPending: ({ gone, unanswered }) => ({ gone, unanswered: [...unanswered] }),
      putBack(state, { gone, unanswered }) {
        state.gone = gone;
        for (const topic of unanswered) state.unanswered.add(topic);
      },
      wholeOptions: (state, { due }) => ({
        mustShow: ({ name }) => mustShow(state, name),
        isShown: (entry) => isShown(state, entry),
        isNeverEmpty: isFullState(state) ? !state.answered : due,
      }),
      deliver,
      fullState: (state) => (isFullState(state) ? state.shown : undefined),
    },
    removals: {
      form: (state) => (isFullState(state) ? "absent" : "never"),
      from: (state) =>
        isWithheld(state)
          ? 0
          : state.gone
              .values()
              .reduce((oldest, { revision }) => Math.min(oldest, revision), Infinity),
      base: (state) => (isWithheld(state) ? -1 : heldBaseOf(state)),
      waiting: () => [],
      gather,
    },
    names: {
      isCovered: (state, name) => coveringTopic(state, name) !== undefined,
      lookUp: (state, name) => coveringTopic(state, name)?.get(name),
      newest,
      mayHaveFromBefore: isWithheld,
      isToBeSent,
      warm(state, name) {
        const { unsettled, unanswered, owed } = state;
        const topic = coveringTopic(state, name);
        if (topic !== undefined && !unsettled.has(topic) && !unanswered.has(topic)) owed.add(name);
      },
    },
    close(state) {
      endPatience(state);
      endStay(state);
    },
  };
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

function createState(setup: TypeSetup, profileOf: ProfileOf): SotwState {
  const { context, host, stream, typeUrl, watcher, exchange, type, rank, quirks } = setup;
  return {
    context,
    host,
    stream,
    typeUrl,
    watcher,
    exchange,
    type,
    rank,
    quirks,
    profile: profileOf(typeUrl, formOf(setup)),
    topics: createSmallMap(),
    located: undefined,
    counted: undefined,
    legacy: true,
    listHash: undefined,
    wantedHash: undefined,
    sent: 0,
    returning: false,
    answered: false,
    unsettled: createSmallSet(),
    unanswered: createSmallSet(),
    unaccepted: createSmallSet(),
    dirty: createSmallSet(),
    owed: createSmallSet(),
    nameLength: 0,
    shown: [],
    kept: [],
    gone: NOTHING,
    stay: NOTHING,
    parting: undefined,
    taken: undefined,
    heldBack: NO_HOLDS,
    lifetimes: undefined,
    unsaid: undefined,
    impatient: false,
    patience: undefined,
  };
}

function isFullState({ type }: SotwState): boolean {
  return type?.fullStateInSotw === true;
}

function takeRequest(state: SotwState, request: SotwRequest, isFirst: boolean): boolean {
  const { exchange, host } = state;
  // A request that crossed a response is not answered. Its list comes again with the ACK, but names
  // that it drops are noted (S-NONCE-6, S-NONCE-7).
  if (!isFirst && isStale(state, request)) {
    narrow(state, request);
    return true;
  }
  const wanted = hashWanted(request);
  if (wanted !== state.wantedHash) host.thaw();
  const startsOver = !isFirst && request.nonce === "" && exchange.nonceSent > 0;
  subscribe(state, request, startsOver ? startAgain(state) : []);
  state.wantedHash = wanted;
  state.listHash = request.located.length === 0 ? wanted : undefined;
  waitAtMost(state, request);
  if (isFirst) begin(state, request);
  return !isFirst && request.nonce !== "";
}

function isStale({ exchange, lifetimes }: SotwState, { nonce }: SotwRequest): boolean {
  return nonce === ""
    ? exchange.inFlight !== undefined
    : !isNewestNonce(lifetimes, exchange, parseNonce(nonce));
}

/**
 * Ends all subscriptions, since the client has lost its state of the type: it has to be sent
 * everything (S-NONCE-7). Returns the topics that were subscribed, with their keys.
 */
function startAgain(state: SotwState): readonly (readonly [key: string, topic: Topic])[] {
  const ended = [...state.topics];
  for (const [key] of ended) unsubscribe(state, key);
  return ended;
}

function isPlainAck(
  { exchange, listHash, lifetimes }: SotwState,
  message: Uint8Array,
  { nonce, namesStart, namesEnd }: Parameters<SotwVariant["requests"]["isPlainAck"]>[2],
): boolean {
  if (exchange.nonceSent === 0 || !isNewestNonce(lifetimes, exchange, nonce)) return false;
  return hashBytes(message, namesStart, namesEnd) === listHash;
}

/**
 * Handles the first request of a type. It is answered whatever nonce it has (S-NONCE-5), unless it
 * is a wildcard alone from a client that has everything (S-RECON-7).
 */
function begin(state: SotwState, { version }: SotwRequest): void {
  state.returning = version !== "";
  const wildcard = state.topics.size === 1 ? topicsOf(state, "*")[0] : undefined;
  if (
    version !== "" &&
    wildcard?.settled === true &&
    currentVersion([wildcard], wildcard.members()) === version
  )
    adopt(state, wildcard, version);
}

function adopt(state: SotwState, wildcard: Topic, version: string): void {
  state.unanswered.clear();
  state.unaccepted.clear();
  state.answered = true;
  state.returning = false;
  state.sent = state.exchange.accepted = state.context.source.revision;
  state.exchange.versionSent = state.exchange.versionAccepted = version;
  state.shown = state.kept = wildcard.members();
  resume(state, wildcard.members());
}

/**
 * Limits the wait of a client without resources, so that it does not wait for ever (S-STREAM-9).
 */
function waitAtMost(state: SotwState, { version }: SotwRequest): void {
  if (
    !isFullState(state) ||
    version !== "" ||
    state.answered ||
    state.patience !== undefined ||
    state.unsettled.size === 0
  )
    return;
  state.patience = state.context.clock.after(state.context.limits.settleMs, () => {
    state.impatient = true;
    state.host.schedule();
  });
}

function endPatience(state: SotwState): void {
  state.patience?.cancel();
  state.patience = undefined;
}

function deliver(state: SotwState, all: Gathered, isLimited: boolean): readonly Entry[] {
  const { heldBack: before } = state;
  const gathered = withoutHolds(state, all, isLimited);
  state.returning = false;
  const { entries, due } = gathered;
  const updates = isFullState(state)
    ? isNews(state, gathered)
    : isPartialNews(state, all, entries, before);
  if (isFullState(state)) supersedeRejected(state, updates || due);
  if (updates || due) send(state, gathered);
  else noteNothingSent(state);
  if (state.answered) endPatience(state);
  return entries;
}

/**
 * Returns true if something has changed since the last response. In a partial response that
 * includes names that were removed since: no response could report their removal.
 */
function hasMoved(state: SotwState): boolean {
  const isGone = ({ name, resource }: Entry): boolean =>
    resource !== undefined && coveringTopic(state, name)?.get(name)?.resource === undefined;
  const { dirty, exchange } = state;
  return (
    dirty.size > 0 || (!isFullState(state) && exchange.inFlight?.entries.some(isGone) === true)
  );
}

/**
 * Drops rejected content, since a full state replaces it; one that is not sent leaves it as it was
 * (S-ACK-8).
 */
function supersedeRejected({ exchange }: SotwState, isSent: boolean): void {
  if (isSent) exchange.rejected = undefined;
  else if (exchange.rejected !== undefined)
    exchange.rejected = { ...exchange.rejected, phase: "kept" };
}

/**
 * Returns true if a full state has something new. Rejected content is not sent again under another
 * version (S-ACK-8). If the author's label stays the same, the content decides. TTLs are compared
 * by themselves, since they are not part of a version (S-TTL-7).
 */
function isNews({ exchange, shown, profile }: SotwState, { version, entries }: Gathered): boolean {
  if (exchange.rejected?.phase === "retried") return true;
  if (exchange.rejected !== undefined && sayTheSame(shown, entries, profile)) return false;
  if (version !== exchange.versionSent) return true;
  return (
    entries !== shown &&
    (hasNewErrors(entries, shown) ||
      hashOf(entries) !== hashOf(shown) ||
      (profile.heartbeat !== undefined && !haveEqualTtls(entries, shown)))
  );
}

/**
 * Returns true if a partial response has something new. It cannot report removals, so rejected
 * content may come back before the client is sent anything else.
 */
function isPartialNews(
  state: SotwState,
  gathered: Gathered,
  sendable: readonly Entry[],
  before: SotwState["heldBack"],
): boolean {
  const rejected = gathered.rejected ?? state.unsaid;
  const isSaid =
    gathered.entries.length > 0 &&
    staysRejected(state, { entries: gathered.entries, rejected }, sendable, before);
  state.unsaid = sendable.length === 0 && !isSaid ? rejected : undefined;
  return sendable.length > 0 && !isSaid;
}

/**
 * Returns the present state of a name. undefined: it is not subscribed, or no response can report
 * its removal.
 */
function newest(state: SotwState, name: string): Entry | "removed" | undefined {
  const topic = coveringTopic(state, name);
  const entry = topic?.get(name);
  if (topic === undefined || entry?.resource !== undefined) return entry;
  return isFullState(state) ? "removed" : undefined;
}

function isToBeSent(state: SotwState, topic: Topic, { name, revision, resource }: Entry): boolean {
  const { unsettled, unanswered, dirty, owed, gone, stay, kept, heldBack, taken, sent, exchange } =
    state;
  if (
    unsettled.has(topic) ||
    unanswered.has(topic) ||
    owed.has(name) ||
    (heldBack.size > 0 && heldBack.has(nameKey(name))) ||
    taken !== undefined
  )
    return true;
  if (dirty.has(topic) && revision > sent) return true;
  // While removals wait, a response has the removed names. The client has them until it accepts a
  // response without them.
  return (
    resource === undefined &&
    (gone.size + stay.size > 0 ||
      (exchange.inFlight !== undefined && byName(kept).get(name)?.resource !== undefined))
  );
}

/**
 * Returns what a client supports: the table of clients takes precedence over what it announces
 * (S-TTL-1).
 */
function formOf({ quirks: { ttl, readsErrors }, host: { node } }: TypeSetup): ClientForm {
  return { wrap: takesWrapped(node), ttl: ttl.sotw ?? announcesTtl(node), errors: readsErrors };
}

/** Takes everything that is pending out of the state, with removals up to a revision. */
function gather(state: SotwState, removeUpTo: number): Gathered {
  return state.type?.fullStateInSotw === true
    ? gatherFullState(state, removeUpTo)
    : (gatherEmpty(state) ?? gatherChanges(state));
}

/**
 * Sends what was gathered as one response. If none of its entries can be sent, a response that is
 * due is sent empty, except for a full state, where that would delete resources.
 */
function send(
  state: SotwState,
  { entries, fresh, origin, base, asked, version, due }: Gathered,
): void {
  const whole = state.type?.fullStateInSotw === true;
  const encoded = whole ? withoutToldErrors(entries, state.shown) : entries;
  const frames = encodeResponse(state, encoded, version, due && !whole);
  if (frames.list.length > 0) {
    state.shown = entries;
    state.answered = true;
  }
  sendResponse(state, { frames, entries, origin, base, asked, upTo: state.sent, whole }, fresh);
}
