import { type Holds, NO_HOLDS } from "../order/hold.ts";
import { heldNames } from "../order/hold-back.ts";
import type { ExchangeOwner } from "./exchange.ts";
import type { TypeStatus } from "./type-status.ts";

/** What the exchange does not know of a type. */
export interface TypeProgress {
  /** How many names, globs and `*` are subscribed. */
  readonly subscriptions: number;
  /** Whether `*` is among them. */
  readonly wildcard: boolean;
  /** The first response was sent. */
  readonly answered: boolean;
  /** Something has changed that was not sent yet. */
  readonly updates: boolean;
  /** Requested names are not known yet. */
  readonly unsettled: boolean;
  /** Names held back, each with what the client lacks for it (S-ORD-4). Absent: none. */
  readonly heldBack?: Holds;
}

/** One type as operators read it (S-ACK-9, S-ACK-17). */
export function statusOf(
  { context, typeUrl, exchange }: ExchangeOwner,
  progress: TypeProgress,
): TypeStatus {
  const { inFlight, lastError, nonceSent, nonceAccepted, acceptedAt } = exchange;
  const heldBack = heldNames(progress.heldBack ?? NO_HOLDS, context.clock);
  return {
    typeUrl,
    state: stateOf(
      exchange.rejected !== undefined || lastError !== undefined,
      inFlight !== undefined,
      progress,
    ),
    subscriptions: progress.subscriptions,
    wildcard: progress.wildcard,
    versionSent: exchange.versionSent,
    nonceSent: nonceText(nonceSent),
    versionAccepted: exchange.versionAccepted,
    nonceAccepted: nonceText(nonceAccepted),
    stuck: inFlight !== undefined && context.clock.now() - inFlight.since > context.limits.stuckMs,
    nacks: exchange.nacks,
    ...(inFlight === undefined ? {} : { pendingSince: inFlight.sentAt }),
    ...(lastError === undefined ? {} : { lastError }),
    ...(acceptedAt === undefined ? {} : { acceptedAt }),
    ...(heldBack.length === 0 ? {} : { heldBack }),
  };
}

function stateOf(
  rejected: boolean,
  inFlight: boolean,
  { answered, updates, unsettled, heldBack }: TypeProgress,
): TypeStatus["state"] {
  if (rejected) return "NACKED";
  if (inFlight || updates || (heldBack?.size ?? 0) > 0) return "STALE";
  if (unsettled) return "REQUESTED";
  return answered ? "SYNCED" : "NOT_SENT";
}

function nonceText(nonce: number): string {
  return nonce === 0 ? "" : String(nonce);
}
