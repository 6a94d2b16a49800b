import type { Entry } from "@xdstp/core";
import { errorText } from "../text/error-text.ts";
import type { Exchange, ExchangeOwner } from "./exchange.ts";
import type { FrameProfile } from "./frame-cache.ts";
import type { BeatOutcome } from "../stream/heartbeats.ts";
import type { NackError } from "../stream/stream-event.ts";
import type { TypeHost } from "../stream/type-machine.ts";

/** What a client holds of one type, some of it for a time only, and the heartbeats that it got. There is none while nothing that it was sent has a TTL. */
export interface Lifetimes {
  /** All that was sent last, with and without a TTL; arrays that streams in the same state have in common. */
  sent: readonly Entry[];
  /** The same, as the client has accepted it. */
  accepted: readonly Entry[];
  /** A subscription has ended since. */
  narrowed: boolean;
  /** The client came back with resources that it holds, whose time has run on: a heartbeat is due at once. */
  resumed: boolean;
  /** Nonce of the newest heartbeat. */
  newest: number;
  /** Nonces of heartbeats that are not answered yet, oldest first. */
  readonly open: Set<number>;
}

/** The number that is remembered for a client that answers none of them. */
const OPEN = 32;

/** Before the first response with a TTL. */
export function createLifetimes(): Lifetimes {
  return { sent: [], accepted: [], narrowed: false, resumed: false, newest: 0, open: new Set() };
}

const NONE: readonly number[] = [];
const known = new WeakMap<readonly Entry[], readonly number[]>();

/** The TTLs that occur in an array, shortest first; read once per array. */
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

/** Whose heartbeats they are. */
export interface HeartbeatOwner extends ExchangeOwner {
  /** Its stream. */
  readonly host: Pick<TypeHost, "canSend" | "lastNonce" | "send">;
  /** How its responses are encoded. */
  readonly profile: FrameProfile;
  /** The resources with a TTL that the client has. undefined: there never was one. */
  lifetimes: Lifetimes | undefined;
}

/**
 * Sends a heartbeat for these entries, next to whatever is unanswered; it is not a change (S-TTL-2, S-TTL-5). One that is `overdue` does not wait for the wire, but goes behind what waits for it:
 * there is one after a reconnect, and the client may have no time left for another.
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

/** Nonce of the response that the answer to this nonce settles: a heartbeat settles what was sent before it and is unanswered (S-ACK-16), or nothing: then it is 0. */
export function settledBy(
  lifetimes: Lifetimes | undefined,
  { inFlight, nonceSent }: Exchange,
  nonce: number,
): number {
  if (lifetimes?.open.has(nonce) !== true) return nonce;
  for (const older of lifetimes.open) if (older <= nonce) lifetimes.open.delete(older);
  return inFlight !== undefined && nonce > nonceSent ? nonceSent : 0;
}

/** Whether this is the nonce of the newest response, or of a heartbeat that came after it: as to what a client has seen these are the same. */
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

/** Counts and reports a rejected heartbeat: the client does not have its resource. */
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
