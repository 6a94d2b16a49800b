import type { ResourceSource } from "@xdstp/core";
import { createSharedFilters } from "@xdstp/policy";
import type { ServerContext } from "@xdstp/protocol/server";
import { createDeltaServer, type DeltaServer } from "@xdstp/transport-delta/server";
import { createSotwServer, type SotwServer } from "@xdstp/transport-sotw/server";

import type { EventHub } from "../event-hub.ts";
import { createGate, type Gate } from "../gate.ts";
import { createAccessBook, type AccessBook } from "./access-book.ts";
import { createAccessDecider, type AccessDecider } from "./access-decider.ts";
import { defaultAccessLimits, type AccessLimits } from "./access-limits.ts";
import type { Authorize, SourceFor } from "./authorize.ts";
import { statusViewOf, type StatusViewOf } from "./status-view.ts";

/** Who is served, and what. */
export interface ServerAccess {
  /** What is served where nothing is decided per client. */
  readonly source: ResourceSource;
  readonly contexts: SourceContexts;
  /** Asked before anything is decided. */
  readonly gate: Gate;
  /** Absent: everyone is served everything. */
  readonly decider: AccessDecider | undefined;
  readonly book: AccessBook;
  readonly limits: AccessLimits;
  /** Absent: callers that may read client status read all of it. */
  readonly viewOf: StatusViewOf | undefined;
}

/** What the options of a server say of it. */
export interface AccessOptions {
  readonly authorize?: Authorize | undefined;
  readonly sourceFor?: SourceFor | undefined;
  readonly limits: Partial<AccessLimits>;
}

/** No client has connected yet. */
export function createAccess(
  context: ServerContext,
  hub: EventHub,
  { authorize, sourceFor, limits: given }: AccessOptions,
): ServerAccess {
  const { source, clock } = context;
  const limits = { ...defaultAccessLimits, ...given };
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

/** Which source has to be ready is known once one was chosen. */
const alwaysReady = { ready: true };

/** The servers of the two protocol variants. */
interface ServerEnds {
  readonly delta: DeltaServer;
  readonly sotw: SotwServer;
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
