import type { Entry } from "@xdstp/core";
import { errorText } from "../text/error-text.ts";
import type { Exchange, ExchangeOwner } from "./exchange.ts";
import type { FrameProfile } from "./frame-cache.ts";
import type { BeatOutcome } from "../stream/heartbeats.ts";
import type { NackError } from "../stream/stream-event.ts";
import type { TypeHost } from "../stream/type-machine.ts";

/**
 * The resources of one type that a client has, with their TTLs, and the heartbeats that were sent.
 * It does not exist until a resource with a TTL is sent.
 */
export interface Lifetimes {
  /**
   * Everything that was last sent, with and without a TTL; arrays that streams in the same state
   * share.
   */
  sent: readonly Entry[];
  /** The part of it that the client has accepted. */
  accepted: readonly Entry[];
  /** True if a subscription has ended since. */
  narrowed: boolean;
  /**
   * True if the client came back with resources whose time has run on: a heartbeat is due at once.
   */
  resumed: boolean;
  /** The nonce of the newest heartbeat. */
  newest: number;
  /** The nonces of unanswered heartbeats, oldest first. */
  readonly open: Set<number>;
}

/** The greatest number of unanswered heartbeats that are kept, for a client that answers none. */
const OPEN = 32;

/** Creates the lifetimes of a type before the first response with a TTL. */
export function createLifetimes(): Lifetimes {
  return { sent: [], accepted: [], narrowed: false, resumed: false, newest: 0, open: new Set() };
}

const NONE: readonly number[] = [];
const known = new WeakMap<readonly Entry[], readonly number[]>();

/** Returns the TTLs of an array in milliseconds, shortest first; computed once per array. */
export function ttlsOf(entries: readonly Entry[]): readonly number[] {
  let ttls = known.get(entries);
  if (ttls === undefined) known.set(entries, (ttls = findTtls(entries)));
  return ttls;
}

function findTtls(entries: readonly Entry[]): readonly number[] {
  const ttls = new Set<number>();
  for (const { resource } of entries) if (resource?.ttlMs !== undefined) ttls.add(resource.ttlMs);
  return ttls.size === 0 ? NONE : [...ttls].sort((a, b) => a - b);
}

/** The owner of heartbeats: one type on one stream. */
export interface HeartbeatOwner extends ExchangeOwner {
  /** The stream. */
  readonly host: Pick<TypeHost, "canSend" | "lastNonce" | "send">;
  /** The way in which its responses are encoded. */
  readonly profile: FrameProfile;
  /** The resources that the client has, with their TTLs. undefined: none of them ever had a TTL. */
  lifetimes: Lifetimes | undefined;
}

/**
 * Sends a heartbeat for these entries, even while a response is unanswered; it is not a change
 * (S-TTL-2, S-TTL-5). A heartbeat that is `overdue` is sent while the wire is full, behind the
 * frames that wait: it follows a reconnect, and the client may have no time left to wait for the
 * next one.
 */
export function sendHeartbeat(
  owner: HeartbeatOwner,
  entries: readonly Entry[],
  ttlMs: number,
  overdue = false,
): BeatOutcome {
  const { context, host, exchange, lifetimes, profile } = owner;
  const heartbeat = profile.heartbeat?.(ttlMs);
  if (lifetimes === undefined || heartbeat === undefined || !ttlsOf(entries).includes(ttlMs))
    return "none";
  if (!host.canSend && !overdue) return "later";
  const frames = context.frames.get(heartbeat, entries, host.lastNonce, exchange.versionSent);
  for (const { nonce } of frames.list) remember(lifetimes, nonce);
  host.send(frames.list);
  for (const { nonce, bytes } of frames.list)
    context.emit?.({
      kind: "heartbeat",
      stream: owner.stream,
      typeUrl: owner.typeUrl,
      nonce: String(nonce),
      resources: frames.resources,
      bytes: bytes.length,
    });
  return "sent";
}

/**
 * Returns the nonce of the response that an answer settles. The answer to a heartbeat settles the
 * unanswered response that was sent before it (S-ACK-16); 0: it settles none.
 */
export function settledBy(
  lifetimes: Lifetimes | undefined,
  { inFlight, nonceSent }: Exchange,
  nonce: number,
): number {
  if (lifetimes?.open.has(nonce) !== true) return nonce;
  for (const older of lifetimes.open) if (older <= nonce) lifetimes.open.delete(older);
  return inFlight !== undefined && nonce > nonceSent ? nonceSent : 0;
}

/**
 * Returns true if this is the nonce of the newest response, or of a heartbeat that was sent after
 * it: in both cases the client has seen the newest response.
 */
export function isNewestNonce(
  lifetimes: Lifetimes | undefined,
  { nonceSent }: Exchange,
  nonce: number,
): boolean {
  return (
    nonce === nonceSent ||
    (lifetimes !== undefined && nonce > nonceSent && nonce <= lifetimes.newest)
  );
}

/** Counts and reports a rejected heartbeat: the client does not have its resources. */
export function rejectHeartbeat(
  { context, exchange, stream, typeUrl }: ExchangeOwner,
  nonce: number,
  { code, message }: NackError,
): void {
  exchange.nacks++;
  const error = { code, message: errorText(message, context.limits.errorText) };
  context.emit?.({
    kind: "nack",
    stream,
    typeUrl,
    version: exchange.versionSent,
    accepted: exchange.versionAccepted,
    nonce: String(nonce),
    error,
  });
}

function remember(lifetimes: Lifetimes, nonce: number): void {
  const { open } = lifetimes;
  lifetimes.newest = nonce;
  open.add(nonce);
  const [oldest] = open;
  if (open.size > OPEN && oldest !== undefined) open.delete(oldest);
}
