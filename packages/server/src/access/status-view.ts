import type { ResourceSource, Status } from "@xdstp/core";
import type { ServerStream } from "@xdstp/protocol/server";
import type { CallPeer } from "@xdstp/grpc/server";
import { isGlob } from "@xdstp/uri";
import type { EventHub } from "../event-hub.ts";
import { rootOf, type AccessBook } from "./access-book.ts";
import type { AccessDecider } from "./access-decider.ts";

/** The part of the status of the clients that a caller may see. */
export interface StatusView {
  shows(stream: ServerStream): boolean;
  /** Whether it may contain a name. */
  allows(typeUrl: string, name: string): boolean;
  /** Whether that is all clients of the source of the server, and all names. */
  readonly isWhole: boolean;
}

/** What a caller of client status may see, or why nothing. */
export type StatusViewOf = (
  peer: CallPeer,
  path: string,
  signal: AbortSignal,
) => Promise<StatusView | Status>;

/** Shows the clients that have the same source and an equal policy, or none where there are no policies, and of them the names that it allows now. A policy with `status: all` shows every client of the source with every name. */
export function statusViewOf(
  source: ResourceSource,
  decider: AccessDecider,
  book: AccessBook,
  hub: EventHub,
): StatusViewOf {
  return async (peer, path, signal) => {
    const access = await decider.decide({ ...peer, path }, signal);
    if ("status" in access) {
      hub.emit?.({
        kind: "rejected",
        path,
        peer: peer.address,
        status: access.status,
        reason: access.reason,
      });
      return access.status;
    }
    access.release();
    const { root } = access;
    const { policy } = access;
    const seesAll = policy === undefined || policy.status === "all";
    return {
      isWhole: seesAll && rootOf(root) === rootOf(source),
      shows(stream) {
        const theirs = book.of(stream);
        return (
          theirs !== undefined &&
          rootOf(theirs.root) === rootOf(root) &&
          (seesAll || theirs.policy?.key === policy.key)
        );
      },
      allows: (typeUrl, name) =>
        seesAll || name === "" || name === "*" || isGlob(name) || access.allows(typeUrl, name),
    };
  };
}
