import { type Status, statusNameOf, XdsError } from "@xdstp/core";

import type { EventHub } from "../server-event.ts";
import type { ServerAccess } from "./create-access.ts";
import type { ViewCaller } from "./view-caller.ts";

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
