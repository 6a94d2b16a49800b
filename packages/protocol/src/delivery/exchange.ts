import type { Clock, Entry, ResourceType, Topic } from "@xdstp/core";
import type { Batch } from "./batch.ts";
import { entryKey } from "./entries.ts";
import { errorText } from "../text/error-text.ts";
import type { FrameProfile, Frames } from "./frame-cache.ts";
import { joinOrigins, type Origin } from "./origin.ts";
import { sayTheSame } from "./say-the-same.ts";
import { askedBy } from "../subscription/asked-by.ts";
import type { ServerContext } from "../stream/server-context.ts";
import type { LastError } from "./type-status.ts";
import type { MissedReference, NackError, StreamInfo } from "../stream/stream-event.ts";

/**
 * Rejected content. None of it counts as delivered. It is sent again when the state to send differs
 * (S-ACK-8).
 */
export interface Rejected extends Origin {
  /** The revision that the client had accepted before. */
  readonly base: number;
  /** True if some of it answered a request: the client's state of that may be older than `base`. */
  readonly asked: boolean;
  /**
   * The entries that were sent; they are not sent again unchanged. undefined: something newer was
   * accepted instead of them.
   */
  readonly entries: readonly Entry[] | undefined;
  /** The entries that were sent last. undefined: the client has accepted them. */
  readonly newestEntries: readonly Entry[] | undefined;
  /** Its references that the client has not accepted since. */
  readonly missed: readonly MissedReference[];
  /** The phase of the rejected content. */
  readonly phase: RejectedPhase;
}

/**
 * The phases of rejected content.
 *
 * ```text
 * kept --the state to send may differ--> changed --nothing differs--> kept
 * kept or changed --a missed reference is accepted--> retried
 * changed or retried --sent, or replaced by a full state--> nothing is rejected
 * ```
 *
 * `kept`: it waits. `changed`: the next response includes it, if its state differs (S-ACK-8).
 * `retried`: the next response includes it, even unchanged, since the client has accepted a name to
 * which it refers (S-ACK-21).
 */
export type RejectedPhase = "kept" | "changed" | "retried";

/** Notes that the state to send may differ from the rejected content. */
export function noteChanged(exchange: Exchange): void {
  const { rejected } = exchange;
  if (rejected?.phase === "kept") exchange.rejected = { ...rejected, phase: "changed" };
}

/** Returns true if the next response includes the rejected content again. */
export function startsAgain({ rejected }: Pick<Exchange, "rejected">): boolean {
  return rejected !== undefined && rejected.phase !== "kept";
}

/** Joins the phases of two rejections: if one of them is due to be sent again, so is the whole. */
function joinPhases(a: RejectedPhase, b: RejectedPhase): RejectedPhase {
  if (a === "retried" || b === "retried") return "retried";
  return a === "changed" || b === "changed" ? "changed" : "kept";
}

/**
 * The requests and responses of one type on one stream: sent, accepted and rejected (S-ACK-9). Only
 * the functions of this file write it.
 */
export interface Exchange {
  /** The response that is not answered yet. undefined: there is none. */
  inFlight: Batch | undefined;
  /**
   * Content that the client has rejected and not received in another state since. undefined: none.
   */
  rejected: Rejected | undefined;
  /**
   * The references, by type and name, for which rejected content was sent again; cleared when
   * something is accepted (S-ACK-21). undefined: none.
   */
  retriedFor: ReadonlySet<string> | undefined;
  /** The revision up to which the client has accepted. */
  accepted: number;
  /**
   * The revisions that the client had accepted before each acceptance within the last `orderMs`
   * milliseconds, oldest first. Kept for types whose resources wait for others (S-ORD-2).
   */
  acceptedBefore: readonly AcceptedBefore[];
  /** Nonce of the newest response; 0 before the first. */
  nonceSent: number;
  /** Nonce of the newest accepted response; 0 before the first. */
  nonceAccepted: number;
  /** Version of the newest response; empty before the first. */
  versionSent: string;
  /** Version of the newest accepted response; empty before the first. */
  versionAccepted: string;
  /** The number of responses that were rejected. */
  nacks: number;
  /** The newest rejection; cleared when something is accepted. undefined: none. */
  lastError: LastError | undefined;
  /** When something was last accepted, in milliseconds since the epoch. */
  acceptedAt: number | undefined;
}

/** The revision that a client had accepted until a moment. */
export interface AcceptedBefore {
  /** The moment at which it accepted a newer one, by `Clock.now()`. */
  readonly until: number;
  /** The revision that it had accepted until then. */
  readonly revision: number;
}

/** The owner of an exchange: one type on one stream. */
export interface ExchangeOwner {
  /** The context that all streams of the server share. */
  readonly context: ServerContext;
  /** The stream, for events. */
  readonly stream: StreamInfo;
  /** The type URL. */
  readonly typeUrl: string;
  /** The descriptor of the type. undefined: it has none. */
  readonly type: ResourceType | undefined;
  /** Its requests and responses. */
  readonly exchange: Exchange;
}

/** Creates the exchange of a type before its first response. */
export function createExchange(): Exchange {
  return {
    inFlight: undefined,
    rejected: undefined,
    retriedFor: undefined,
    accepted: 0,
    acceptedBefore: NONE_BEFORE,
    nonceSent: 0,
    nonceAccepted: 0,
    versionSent: "",
    versionAccepted: "",
    nacks: 0,
    lastError: undefined,
    acceptedAt: undefined,
  };
}

/** A response to send. */
export interface Outgoing extends Pick<Batch, "base" | "asked" | "upTo" | "origin" | "entries"> {
  /** True if it is a full state. Absent: it is not. */
  readonly whole?: boolean;
  /** Its encoded parts. */
  readonly frames: Frames;
}

/**
 * Records a response before it can reach the wire (S-NONCE-9). While another response is unanswered
 * it becomes a further part of that one: the answer to the newest part settles both.
 */
export function recordSent(owner: ExchangeOwner, outgoing: Outgoing): void {
  const { exchange, context } = owner;
  const batch = batchOf(outgoing, context.clock);
  exchange.nonceSent = batch.last;
  exchange.versionSent = batch.version;
  exchange.inFlight =
    exchange.inFlight === undefined ? batch : joinBatches(exchange.inFlight, batch);
  reportPush(owner, outgoing.frames, batch.version);
}

/**
 * Returns the batch of a response. Streams that are sent the same frames from the same state within
 * one millisecond share one batch, so that a change for many clients creates few of them.
 */
function batchOf(
  { frames, base, asked, upTo, origin, entries, whole = false }: Outgoing,
  clock: Clock,
): Batch {
  const since = clock.now();
  const known = frames.batch;
  if (
    known?.since === since &&
    known.base === base &&
    known.asked === asked &&
    known.upTo === upTo &&
    known.origin === origin &&
    known.entries === entries
  )
    return known;
  const last = frames.list.at(-1)?.nonce ?? 0;
  const first = frames.list[0]?.nonce ?? last;
  const batch: Batch = {
    first,
    last,
    newest: first,
    base,
    asked,
    upTo,
    version: frames.version,
    since,
    sentAt: clock.wallTime(),
    repairedAt: since,
    origin,
    entries,
    newestEntries: entries,
    rejection: undefined,
    repaired: false,
    narrowed: false,
    missed: [],
    whole,
  };
  frames.batch = batch;
  return batch;
}

function joinBatches(open: Batch, next: Batch): Batch {
  const { first, since, sentAt, rejection, narrowed, missed } = open;
  return {
    ...next,
    first,
    since,
    sentAt,
    rejection,
    narrowed,
    missed,
    repaired: open.repaired || rejection !== undefined,
    base: Math.min(next.base, open.base),
    asked: next.asked || open.asked,
    origin: joinOrigins(open.origin, next.origin),
    entries: newestOf(open.entries, next.entries),
  };
}

/**
 * Returns each name once, in its newest state: a client that never answers may be sent the same
 * names for days.
 */
function newestOf(older: readonly Entry[], newer: readonly Entry[]): readonly Entry[] {
  const byName = new Map<string, Entry>();
  for (const entries of [older, newer])
    for (const entry of entries) byName.set(entryKey(entry, entry.name), entry);
  return [...byName.values()];
}

/**
 * Applies an ACK or, with an error, a NACK (S-ACK-7). A nonce that is not in flight is counted and
 * otherwise ignored (S-NONCE-8, S-ACK-19).
 * @param missed - Returns the references of the unanswered response that the client has not
 * accepted. Called for a NACK only
 * @returns true if the answer settles the batch
 */
export function recordAnswer(
  owner: ExchangeOwner,
  nonce: number,
  error: NackError | undefined,
  changedSince: boolean,
  missed: (entries: readonly Entry[]) => readonly MissedReference[] = noneMissed,
): boolean {
  const { exchange, context, stream, typeUrl } = owner;
  const batch = exchange.inFlight;
  // The response is already answered. In delta only an answer has a nonce (C-NONCE-10), but every
  // SotW request repeats the newest nonce, even a request that only changes names (C-NONCE-3).
  if (
    stream.variant === "sotw" &&
    batch === undefined &&
    error === undefined &&
    nonce > 0 &&
    nonce === exchange.nonceSent
  )
    return false;
  if (batch === undefined || nonce < batch.first || nonce > batch.last) {
    context.emit?.({ kind: "stale-nonce", stream, typeUrl, nonce: nonce < 0 ? "" : String(nonce) });
    return false;
  }
  const open =
    error === undefined ? batch : reject(owner, batch, nonce, error, missed(batch.entries));
  if (nonce !== batch.last) {
    exchange.inFlight = open;
    return false;
  }
  exchange.inFlight = undefined;
  if (open.rejection === undefined || (error === undefined && open.whole)) accept(owner, open);
  else keepRejected(exchange, open, changedSince, error !== undefined);
  return true;
}

/**
 * Notes that a topic was unsubscribed. If a rejected or unanswered response came from it, the
 * remaining rejected content is sent again (S-ACK-8).
 */
export function loseTopic(exchange: Exchange, topic: Topic): void {
  const { inFlight, rejected } = exchange;
  if (rejected !== undefined && isFrom(rejected, topic)) noteChanged(exchange);
  if (inFlight !== undefined && isFrom(inFlight.origin, topic))
    exchange.inFlight = { ...inFlight, narrowed: true };
}

function isFrom({ answered, changed, named }: Origin, topic: Topic): boolean {
  return answered.has(topic) || changed.has(topic) || named.has(topic.interest.name);
}

function noneMissed(): readonly MissedReference[] {
  return [];
}

function reject(
  { exchange, context, stream, typeUrl }: ExchangeOwner,
  batch: Batch,
  nonce: number,
  error: NackError,
  missed: readonly MissedReference[],
): Batch {
  const rejection = {
    code: error.code,
    message: errorText(error.message, context.limits.errorText),
  };
  const { version } = batch;
  exchange.nacks++;
  const at = context.clock.wallTime();
  const lacking = missed.length === 0 ? {} : { missed };
  exchange.lastError = {
    ...rejection,
    at,
    since: exchange.lastError?.since ?? at,
    version,
    ...lacking,
  };
  context.emit?.({
    kind: "nack",
    stream,
    typeUrl,
    version,
    accepted: exchange.versionAccepted,
    nonce: String(nonce),
    error: rejection,
    ...lacking,
    held: batch,
  });
  return { ...batch, rejection, missed, repaired: batch.repaired || nonce < batch.newest };
}

function accept(owner: ExchangeOwner, batch: Batch): void {
  const { exchange, context, stream, typeUrl } = owner;
  const { upTo, version, last } = batch;
  if (exchange.rejected === undefined) {
    if (owner.type?.warms !== undefined) noteBefore(owner);
    exchange.accepted = upTo;
    exchange.retriedFor = undefined;
    exchange.lastError = undefined;
  }
  exchange.versionAccepted = version;
  exchange.nonceAccepted = last;
  exchange.acceptedAt = context.clock.wallTime();
  context.emit?.({ kind: "ack", stream, typeUrl, version, nonce: String(last), held: batch });
}

/** Acceptances within one such fraction of `orderMs` count as one. */
const PARTS = 8;
const NONE_BEFORE: readonly AcceptedBefore[] = [];

function noteBefore({ exchange, context: { clock, limits } }: ExchangeOwner): void {
  const now = clock.now();
  const { acceptedBefore } = exchange;
  const isRecent = ({ until }: AcceptedBefore): boolean => now < until + limits.orderMs;
  const [oldest] = acceptedBefore;
  const recent =
    oldest === undefined || isRecent(oldest) ? acceptedBefore : acceptedBefore.filter(isRecent);
  const last = recent.at(-1);
  exchange.acceptedBefore =
    last !== undefined && now < last.until + limits.orderMs / PARTS
      ? recent
      : recent.concat({ until: now, revision: exchange.accepted }); // `concat` leaves no spare capacity: every idle stream keeps this array
}

/** Returns the revision that the client had accepted `orderMs` milliseconds ago. */
export function longAccepted({
  exchange,
  context: { clock, limits },
}: Pick<ExchangeOwner, "exchange" | "context">): number {
  const now = clock.now();
  const before = exchange.acceptedBefore.find(({ until }) => now < until + limits.orderMs);
  return before?.revision ?? exchange.accepted;
}

/**
 * Keeps the rejected content of a batch. It is sent again from topics and names, in the state that
 * they have by then; at once if the state to send already differs (S-ACK-8).
 */
function keepRejected(
  exchange: Exchange,
  { origin, base, asked, narrowed, repaired, missed, entries, newestEntries }: Batch,
  changedSince: boolean,
  isNewestRejected: boolean,
): void {
  const { rejected } = exchange;
  // Entries of a topic that has been unsubscribed may be covered by another topic: only their names
  // can tell.
  const named = narrowed
    ? new Set([...origin.named, ...entries.map(({ name }) => name)])
    : origin.named;
  const all = joinOrigins(
    rejected ?? { answered: new Set(), changed: new Set(), named: new Set() },
    { ...origin, named },
  );
  exchange.rejected = {
    ...all,
    base: Math.min(base, rejected?.base ?? base),
    asked: asked || rejected?.asked === true,
    entries: repaired ? undefined : joinSaid(rejected, entries),
    newestEntries: repaired && !isNewestRejected ? undefined : newestEntries,
    missed: joinMissed(rejected?.missed, withoutRetried(exchange, missed)),
    phase: joinPhases(
      rejected?.phase ?? "kept",
      changedSince || narrowed || repaired ? "changed" : "kept",
    ),
  };
}

function withoutRetried(
  { retriedFor }: Exchange,
  missed: readonly MissedReference[],
): readonly MissedReference[] {
  return retriedFor === undefined
    ? missed
    : missed.filter((reference) => !retriedFor.has(missedKey(reference)));
}

/** Returns a map key for a name of a type. */
export function missedKey({ typeUrl, name }: Pick<MissedReference, "typeUrl" | "name">): string {
  return `${typeUrl}\n${name}`;
}

/** Joins references, each once, up to the number that a single rejection may have. */
function joinMissed(
  before: readonly MissedReference[] = [],
  missed: readonly MissedReference[],
): readonly MissedReference[] {
  if (before.length === 0) return missed;
  const isNew = ({ typeUrl, name }: MissedReference): boolean =>
    !before.some((other) => other.typeUrl === typeUrl && other.name === name);
  return [...before, ...missed.filter(isNew)].slice(0, MOST_MISSED);
}

/**
 * The greatest number of references that are kept of rejected content. Content that has more is
 * retried for these only (S-ACK-21).
 */
export const MOST_MISSED = 100;

function joinSaid(
  rejected: Rejected | undefined,
  entries: readonly Entry[],
): readonly Entry[] | undefined {
  if (rejected === undefined) return entries;
  return rejected.entries === undefined ? undefined : newestOf(rejected.entries, entries);
}

/**
 * Takes rejected content out of the exchange to be sent again, if the state to send may differ by
 * now (S-ACK-8). The result has only entries that were not requested since, because requested names
 * are sent in any case.
 * @param due - Topics whose first answer is due
 * @param owed - Names to be sent
 * @returns undefined: nothing was rejected, or it stays rejected
 */
export function takeRejected(
  exchange: Exchange,
  due: Iterable<Topic>,
  owed: { has(name: string): boolean },
): Rejected | undefined {
  const { rejected } = exchange;
  if (rejected === undefined || rejected.phase === "kept") return undefined;
  exchange.rejected = undefined;
  const isAsked = askedBy(due);
  const unasked = (entries: readonly Entry[] | undefined): readonly Entry[] | undefined =>
    entries?.filter(({ name }) => !owed.has(name) && !isAsked(name));
  return {
    ...rejected,
    entries: unasked(rejected.entries),
    newestEntries: unasked(rejected.newestEntries),
  };
}

/**
 * Returns true if a response would only repeat rejected content, since the changes since the
 * rejection cannot be sent, or not yet. The content then stays rejected until there is more to send
 * (S-ACK-8).
 * @param heldBack - Gathered entries that wait for what they refer to. If they were rejected
 * before, they are not a change either
 * @param profile - Returns the bytes that this client is sent for an entry
 * @param hasUpdates - True if something has changed since the entries were taken, so that there is
 * more to send already
 */
export function isRepetition(
  exchange: Exchange,
  consumed: Rejected | undefined,
  entries: readonly Entry[],
  heldBack: readonly Entry[],
  profile: Pick<FrameProfile, "said">,
  hasUpdates: boolean,
): boolean {
  if (consumed === undefined || consumed.phase === "retried" || exchange.rejected !== undefined)
    return false;
  const isSaid = (said: readonly Entry[] | undefined): boolean =>
    said !== undefined && sayTheSame(said, withRejected(entries, heldBack, said), profile);
  if (!isSaid(consumed.entries) && !isSaid(consumed.newestEntries)) return false;
  exchange.rejected = { ...consumed, phase: hasUpdates ? "changed" : "kept" };
  return true;
}

function withRejected(
  entries: readonly Entry[],
  heldBack: readonly Entry[],
  said: readonly Entry[],
): readonly Entry[] {
  if (heldBack.length === 0) return entries;
  const names = new Set(said.map(({ name }) => name));
  return [...entries, ...heldBack.filter(({ name }) => names.has(name))];
}

/**
 * Puts rejected content that was taken to be sent back into the exchange; none of it counts as
 * sent.
 */
export function giveBack(exchange: Exchange, consumed: Rejected): void {
  const { rejected } = exchange;
  exchange.rejected = {
    ...joinOrigins(rejected ?? consumed, consumed),
    base: Math.min(consumed.base, rejected?.base ?? consumed.base),
    asked: consumed.asked || rejected?.asked === true,
    entries: rejected === undefined ? consumed.entries : undefined,
    newestEntries: (rejected ?? consumed).newestEntries,
    missed: joinMissed(rejected?.missed, consumed.missed),
    phase: joinPhases(consumed.phase, rejected?.phase ?? "kept"),
  };
}

function reportPush(
  { context, stream, typeUrl }: ExchangeOwner,
  { list, resources, removed, notSent }: Frames,
  version: string,
): void {
  if (context.emit === undefined) return;
  if (notSent.length > 0) context.emit({ kind: "not-sent", stream, typeUrl, resources: notSent });
  for (const { nonce, bytes } of list)
    context.emit({
      kind: "push",
      stream,
      typeUrl,
      version,
      nonce: String(nonce),
      resources,
      removed,
      bytes: bytes.length,
    });
}
