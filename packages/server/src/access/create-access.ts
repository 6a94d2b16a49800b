import type { ResourceSource } from "@xdstp/core";
import { createSharedFilters } from "@xdstp/policy";
import type { ServerContext } from "@xdstp/protocol/server";
import type { EventHub } from "../event-hub.ts";
import { createGate, type Gate } from "../gate.ts";
import { createAccessBook, type AccessBook } from "./access-book.ts";
import { createAccessDecider, type AccessDecider } from "./access-decider.ts";
import { defaultAccessLimits, type AccessLimits } from "./access-limits.ts";
import type { Authorize, SourceFor } from "./authorize.ts";
import { createSourceContexts, type SourceContexts } from "./source-contexts.ts";
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
