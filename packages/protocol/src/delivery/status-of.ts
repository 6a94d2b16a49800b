import { type Holds, NO_HOLDS } from "../order/hold.ts";
import { heldNames } from "../order/hold-back.ts";
import type { ExchangeOwner } from "./exchange.ts";
import type { TypeStatus } from "./type-status.ts";

/** The progress of a type, as far as its exchange does not have it. */
export interface TypeProgress {
  /** The number of names, globs and `*` that are subscribed. */
  readonly subscriptions: number;
  /** True if `*` is subscribed. */
  readonly wildcard: boolean;
  /** True if the first response was sent. */
  readonly answered: boolean;
  /** True if there are changes that were not sent yet. */
  readonly updates: boolean;
  /** True if requested names are not known yet. */
  readonly unsettled: boolean;
  /** The names that wait, each with what the client lacks for it (S-ORD-4). Absent: none. */
  readonly heldBack?: Holds;
}

/** Returns the status of one type, as operators read it (S-ACK-9, S-ACK-17). */
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
