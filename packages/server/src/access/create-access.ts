import type { ResourceSource, Status } from "@xdstp/core";
import { createSharedFilters } from "@xdstp/policy";
import type { ServerContext, ServerStream, VariantServer } from "@xdstp/protocol/server";
import { createDeltaServer } from "@xdstp/transport-delta/server";
import { createSotwServer } from "@xdstp/transport-sotw/server";
import type { CallPeer } from "@xdstp/grpc/server";
import { isGlob } from "@xdstp/uri";

import type { EventHub } from "../server-event.ts";
import { createGate, type Gate } from "../gate.ts";
import { type AccessBook, createAccessBook, rootOf } from "./access-book.ts";
import { createAccessDecider, type AccessDecider } from "./access-decider.ts";
import { defaultServerLimits, type ServerLimits } from "../server-limits.ts";
import type { ServerOptions } from "../xds-server.ts";
import type { Authorize } from "./authorize.ts";

/** The access of clients: those that are served, and the source of each. */
export interface ServerAccess {
  /** The source for servers that do not decide per client. */
  readonly source: ResourceSource;
  readonly contexts: SourceContexts;
  /** Checked before any decision. */
  readonly gate: Gate;
  /** Absent: every client is served everything. */
  readonly decider: AccessDecider | undefined;
  readonly book: AccessBook;
  readonly limits: ServerLimits["access"];
  /** Absent: callers that may read client status read all of it. */
  readonly viewOf: StatusViewOf | undefined;
}

/** The options of a server about access. */
export interface AccessOptions {
  readonly authorize?: Authorize | undefined;
  readonly sourceFor?: ServerOptions["sourceFor"];
  readonly limits: Partial<ServerLimits["access"]>;
}

/** Creates the access of a server without clients. */
export function createAccess(
  context: ServerContext,
  hub: EventHub,
  { authorize, sourceFor, limits: given }: AccessOptions,
): ServerAccess {
  const { source, clock } = context;
  const limits = { ...defaultServerLimits.access, ...given };
  const gate = createGate(
    sourceFor === undefined || sourceFor.viewsOnly === true ? source : alwaysReady,
  );
  const book = createAccessBook();
  const filters = createSharedFilters({
    clock,
    onFault: (error) => {
      hub.fault("policy", error);
    },
  });
  const isOpen = authorize === undefined && sourceFor === undefined;
  const decider = isOpen
    ? undefined
    : createAccessDecider({
        authorize,
        sourceFor,
        source,
        filters,
        clock,
        authorizeMs: limits.authorizeMs,
        gate,
        hub,
      });
  const viewOf = decider === undefined ? undefined : statusViewOf(source, decider, book, hub);
  return { source, contexts: createSourceContexts(context), gate, decider, book, limits, viewOf };
}

/** Used if the source that has to be ready is known only after one was chosen. */
const alwaysReady = { ready: true };

/** The servers of the two protocol variants. */
interface ServerEnds {
  readonly delta: VariantServer;
  readonly sotw: VariantServer;
}

/** The contexts of a server by source. A source has the same context until it is garbage-collected. */
interface SourceContexts {
  of(source: ResourceSource): ServerContext;
  /** Returns the two servers of a source. Streams on its views and filters share them, and so share encoded frames. */
  endsOf(source: ResourceSource): ServerEnds;
}

/** Creates contexts that differ from the context of the server in their source only. */
function createSourceContexts(base: ServerContext): SourceContexts {
  const contexts = new WeakMap<ResourceSource, ServerContext>([[base.source, base]]);
  const ends = new WeakMap<ResourceSource, ServerEnds>();
  const of = (source: ResourceSource): ServerContext => {
    const known = contexts.get(source) ?? {
      ...base,
      source,
      get emit() {
        return base.emit;
      },
    };
    contexts.set(source, known);
    return known;
  };
  return {
    of,
    endsOf(source) {
      const known = ends.get(source) ?? {
        delta: createDeltaServer(of(source)),
        sotw: createSotwServer(of(source)),
      };
      ends.set(source, known);
      return known;
    },
  };
}

/** The part of the status of the clients that a caller may see. */
export interface StatusView {
  shows(stream: ServerStream): boolean;
  /** Returns true if the status may contain a name. */
  allows(typeUrl: string, name: string): boolean;
  /** True if that is all clients of the source of the server, and all names. */
  readonly isWhole: boolean;
  /** The source of the caller, unfiltered; {@link allows} says which of its names the caller may see. */
  readonly source: ResourceSource;
}

/** Returns what a caller of client status may see, or the status that rejects it. */
export type StatusViewOf = (
  peer: CallPeer,
  path: string,
  signal: AbortSignal,
) => Promise<StatusView | Status>;

/**
 * Returns a function for the view of a caller. It shows the clients that have the same source and
 * an equal policy, and of them the names that the policy allows now. Without `authorize` it shows
 * all clients of the source with all names; so does a policy with `status: "all"`.
 */
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
      source: root,
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
