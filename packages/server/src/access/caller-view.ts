import { type ResourceSource, type Status, statusNameOf, XdsError } from "@xdstp/core";
import type { CallPeer } from "@xdstp/grpc/server";

import type { EventHub } from "../server-event.ts";
import type { ServerAccess } from "./create-access.ts";

/** The resources that a caller may see who is not served by a stream, but over another protocol. */
export interface CallerView {
  /** The resources that the caller may see. */
  readonly source: ResourceSource;
  /**
   * The key of the policy of the caller; an empty text if only `sourceFor` decides. Absent: every
   * caller may see the same.
   */
  readonly key?: string;
  /** Aborts when the policy is revoked: the caller has to be answered with PERMISSION_DENIED. Absent: it is never revoked. */
  readonly revoked?: AbortSignal;
  /** Call it once when the view is no longer needed. */
  release(): void;
}

/** Returns what a caller may see. Rejects with an XdsError, whose text is safe to send. */
export type ViewCaller = (
  peer: CallPeer,
  options: { readonly path: string; readonly signal: AbortSignal },
) => Promise<CallerView>;

/** Returns a function that decides as for a Fetch, and emits the same event for a rejection. */
export function createViewCaller(
  { source, gate, decider }: ServerAccess,
  hub: EventHub,
): ViewCaller {
  return async (peer, { path, signal }) => {
    const reject = (status: Status, reason?: string): XdsError => {
      hub.emit?.({
        kind: "rejected",
        path,
        peer: peer.address,
        status,
        ...(reason !== undefined && { reason }),
      });
      return new XdsError(statusNameOf(status.code) ?? "UNKNOWN", status.message);
    };
    const closed = gate.rejection();
    if (closed !== undefined) throw reject(closed);
    if (decider === undefined) return { source, release: () => undefined };
    const access = await decider.decide({ ...peer, path }, signal);
    if ("status" in access) throw reject(access.status, access.reason);
    const { policy } = access;
    return {
      source: access.source,
      // `sourceFor` may give the next caller another source, so this answer depends on the caller too.
      key: policy?.key ?? "",
      ...(policy?.revoked !== undefined && { revoked: policy.revoked }),
      release: () => {
        access.release();
      },
    };
  };
}
