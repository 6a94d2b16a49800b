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

/** Content that was rejected. Nothing of it counts as delivered; it goes out again when the state to send differs (S-ACK-8). */
export interface Rejected extends Origin {
  /** Revision that the client had accepted before. */
  readonly base: number;
  /** Some of it answered a request: what the client has of that may be older than `base`. */
  readonly asked: boolean;
  /** What was sent: it is not sent again unchanged. undefined: something newer was accepted instead of what was rejected. */
  readonly entries: readonly Entry[] | undefined;
  /** The same for the last response. */
  readonly newestEntries: readonly Entry[] | undefined;
  /** Its references that the client has not accepted since. */
  readonly missed: readonly MissedReference[];
  /** What becomes of it. */
  readonly phase: RejectedPhase;
}

/**
 * What becomes of rejected content.
 *
 * ```text
 * kept --the state to send may differ--> changed --nothing differs--> kept
 * kept or changed --a missed reference is accepted--> retried
 * changed or retried --sent, or replaced by a full state--> nothing is rejected
 * ```
 *
 * `kept`: it waits. `changed`: it starts again with the next response, if that says something else (S-ACK-8). `retried`: it starts again, also unchanged, since the client has accepted
 * something to which it refers (S-ACK-21).
 */
export type RejectedPhase = "kept" | "changed" | "retried";

/** Notes that the state to send may differ from what was rejected. */
export function noteChanged(exchange: Exchange): void {
  const { rejected } = exchange;
  if (rejected?.phase === "kept") exchange.rejected = { ...rejected, phase: "changed" };
}

/** Returns whether rejected content starts again with the next response. */
export function startsAgain({ rejected }: Pick<Exchange, "rejected">): boolean {
  return rejected !== undefined && rejected.phase !== "kept";
}

/** Two rejections become one: what was due stays due. */
function joinPhases(a: RejectedPhase, b: RejectedPhase): RejectedPhase {
  if (a === "retried" || b === "retried") return "retried";
  return a === "changed" || b === "changed" ? "changed" : "kept";
}

/** Requests and responses of one type on one stream: what went out, what was accepted, what was rejected (S-ACK-9). Written by the functions of this file only. */
export interface Exchange {
  /** The response that is not answered yet. undefined: there is none. */
  inFlight: Batch | undefined;
  /** What the client has rejected and not received in another form since. undefined: nothing. */
  rejected: Rejected | undefined;
  /** The references, by type and name, for which rejected content was sent again, until something is accepted (S-ACK-21). undefined: none. */
  retriedFor: ReadonlySet<string> | undefined;
  /** Revision up to which the client has accepted. */
  accepted: number;
  /** The revisions that it had accepted before each acceptance of the last `orderMs`, oldest first. Kept for types whose resources wait for others (S-ORD-2). */
  acceptedBefore: readonly AcceptedBefore[];
  /** Nonce of the newest response; 0 before the first. */
  nonceSent: number;
  /** Nonce of the newest accepted response; 0 before the first. */
  nonceAccepted: number;
  /** Version of the newest response; empty before the first. */
  versionSent: string;
  /** Version of the newest accepted response; empty before the first. */
  versionAccepted: string;
  /** How many responses were rejected. */
  nacks: number;
  /** The newest rejection, until something is accepted. undefined: none. */
  lastError: LastError | undefined;
  /** When something was accepted last, in milliseconds since the epoch. */
  acceptedAt: number | undefined;
}

/** The revision that a client had accepted until a moment of `Clock.now()`. */
export interface AcceptedBefore {
  /** When it accepted a newer one. */
  readonly until: number;
  /** The revision that it had accepted so long. */
  readonly revision: number;
}

/** Whose exchange it is. */
export interface ExchangeOwner {
  /** What all streams of the server share. */
  readonly context: ServerContext;
  /** The stream, for events. */
  readonly stream: StreamInfo;
  /** The type URL. */
  readonly typeUrl: string;
  /** The type. undefined: it has no descriptor. */
  readonly type: ResourceType | undefined;
  /** Its requests and responses. */
  readonly exchange: Exchange;
}

/** Before the first response. */
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

/** What goes out now. */
export interface Outgoing extends Pick<Batch, "base" | "asked" | "upTo" | "origin" | "entries"> {
  /** It is a full state. Absent: it is not. */
  readonly whole?: boolean;
  /** Its parts, encoded. */
  readonly frames: Frames;
}

/** Records a response before it can reach the wire (S-NONCE-9). Next to an unanswered one it is a further part of it: the answer to the newest settles both. */
export function recordSent(owner: ExchangeOwner, outgoing: Outgoing): void {
  const { exchange, context } = owner;
  const batch = batchOf(outgoing, context.clock);
  exchange.nonceSent = batch.last;
  exchange.versionSent = batch.version;
  exchange.inFlight =
    exchange.inFlight === undefined ? batch : joinBatches(exchange.inFlight, batch);
  reportPush(owner, outgoing.frames, batch.version);
}

/** Streams that get the same frames from the same state within one millisecond share one batch: a fan-out makes few. */
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

/** A name once: a client that never answers may be sent the same ones for days. */
function newestOf(older: readonly Entry[], newer: readonly Entry[]): readonly Entry[] {
  const byName = new Map<string, Entry>();
  for (const entries of [older, newer])
    for (const entry of entries) byName.set(entryKey(entry, entry.name), entry);
  return [...byName.values()];
}

/**
 * Takes an ACK or, with an error, a NACK (S-ACK-7). A nonce that is not in flight is counted and harmless (S-NONCE-8, S-ACK-19).
 * @param missed - What the unanswered response refers to and the client has not accepted. Called for a NACK only
 * @returns whether the batch is settled by it
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
  // The response is answered already. In delta only an answer has a nonce (C-NONCE-10), but every SotW request repeats the newest nonce, also one that only changes names (C-NONCE-3).
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

/** The subscriptions have lost a topic that a rejected or unanswered response came from: what was rejected of the rest goes out again (S-ACK-8). */
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

/** Acceptances within one such part of `orderMs` count as one. */
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
      : recent.concat({ until: now, revision: exchange.accepted }); // without spare room: every idle stream keeps it
}

/** Returns the revision that the client had accepted `orderMs` ago. */
export function longAccepted({
  exchange,
  context: { clock, limits },
}: Pick<ExchangeOwner, "exchange" | "context">): number {
  const now = clock.now();
  const before = exchange.acceptedBefore.find(({ until }) => now < until + limits.orderMs);
  return before?.revision ?? exchange.accepted;
}

/** Sent again from topics and names, as they are by then. If the wanted state differs already, it goes out at once (S-ACK-8). */
function keepRejected(
  exchange: Exchange,
  { origin, base, asked, narrowed, repaired, missed, entries, newestEntries }: Batch,
  changedSince: boolean,
  isNewestRejected: boolean,
): void {
  const { rejected } = exchange;
  // What came from a topic that has been unsubscribed may be covered by another: only its names can tell.
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

/** A name of a type, as a key. */
export function missedKey({ typeUrl, name }: Pick<MissedReference, "typeUrl" | "name">): string {
  return `${typeUrl}\n${name}`;
}

/** Each once, and no more than a single rejection has. */
function joinMissed(
  before: readonly MissedReference[] = [],
  missed: readonly MissedReference[],
): readonly MissedReference[] {
  if (before.length === 0) return missed;
  const isNew = ({ typeUrl, name }: MissedReference): boolean =>
    !before.some((other) => other.typeUrl === typeUrl && other.name === name);
  return [...before, ...missed.filter(isNew)].slice(0, MOST_MISSED);
}

/** References that are kept of what was rejected. Content that has more is retried for the others (S-ACK-21). */
export const MOST_MISSED = 100;

function joinSaid(
  rejected: Rejected | undefined,
  entries: readonly Entry[],
): readonly Entry[] | undefined {
  if (rejected === undefined) return entries;
  return rejected.entries === undefined ? undefined : newestOf(rejected.entries, entries);
}

/**
 * Takes rejected content out of the exchange, to be sent again, if the state to send differs by now (S-ACK-8). Its entries are those that were not requested since: requested names are sent in any case.
 * @param due - Topics whose answer is due
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
 * Changes since a rejection cannot be sent, or not yet, so that a new start would only repeat what was rejected: that stays rejected until there is more to send (S-ACK-8).
 * @param heldBack - What was gathered next to the entries and waits for what it refers to: what was rejected of it is not a change either
 * @param profile - Says which of the entries this client is sent
 * @param hasUpdates - Something has changed since the entries were taken: there is more to say already
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

/** What was taken to be sent goes back among what is pending; nothing of it counts as sent. */
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
