import type { Fault, Interest } from "@xdstp/core";
import {
  allParts,
  type ClientContext,
  type ClientFeed,
  type ClientVariant,
  createClientFeed,
  nameParts,
  type RequestChanges,
  type TypeSetup,
  type Wanted,
  type WantedReader,
} from "@xdstp/protocol/client";
import { isGlob, nameKey } from "@xdstp/uri";

import { encodeRequest } from "./encode-request.ts";
import { readResponse } from "./read-response.ts";

/** The field number of the node in a `DeltaDiscoveryRequest`. */
const NODE = 1;

/** The greatest number of former subscriptions that are kept. */
const FORMER = 10_000;

/** The assumptions that the server may make about one type on one stream. */
interface DeltaMemory {
  readonly setup: TypeSetup;
  /**
   * The ids of interests that were cached and unsubscribed on this stream. If one is subscribed
   * again, the server may assume that the client still has it.
   */
  readonly former: Set<string>;
}

const delta: Omit<ClientVariant<DeltaMemory>, "parts"> = {
  name: "delta",
  nodeField: NODE,
  silenceConfirms: true,
  read: readResponse,
  faultOf: () => undefined,
  begin: (setup) => ({ setup, former: new Set() }),
  needsNewStream: () => false,
  request: (changes, wanted, memory) => ({ bytes: request(changes, wanted, memory), more: false }),
  // A resource that a response does not mention is unchanged.
  absence: undefined,
  // On a new stream the server compares with the versions that are listed then (C-RECON-3).
  repeat: ({ id }, { former }) => (former.has(id) ? "new-stream" : "not-needed"),
};

/**
 * Creates a delta client: a feed that requests its subscriptions from one server, over one stream
 * for all types.
 */
export function createDeltaClient(context: ClientContext): ClientFeed {
  return createClientFeed(context, { ...delta, parts: allParts });
}

/**
 * Creates a delta client for a program that has to be small, such as a page. It subscribes to single
 * names without parameters only, by the names of the resources and not by aliases. Error texts of the
 * server are not redacted, so they must not be passed on to other clients.
 */
export function createDeltaNameClient(context: ClientContext): ClientFeed {
  return createClientFeed(context, { ...delta, parts: nameParts, faultOf: nameFault });
}

function nameFault({ name, parameters }: Interest): Fault | undefined {
  return name === "*" || isGlob(name) || parameters !== undefined
    ? { text: `${JSON.stringify(name)}: this client requests single names without parameters only` }
    : undefined;
}

/** Encodes the changes since the last request. */
function request(changes: RequestChanges, wanted: WantedReader, memory: DeltaMemory): Uint8Array {
  const { answer, added, dropped, repeated, isFirst } = changes;
  const { typeUrl, type } = memory.setup;
  const subscribe = [...new Set([...added, ...repeated])];
  // C-DSUB-4: an interest that is also subscribed in the same request is not unsubscribed.
  const begun = dropped.length === 0 ? undefined : new Set(subscribe.map(({ id }) => id));
  const isLegacy = isFirst && (type?.legacyWildcard ?? true) && isOnlyWildcard(subscribe);
  for (const { id, state } of dropped)
    if (state.known.kind === "cached") remember(memory.former, id);
  return encodeRequest({
    typeUrl,
    answer,
    subscribe: isLegacy ? [] : subscribe.map(({ interest }) => interest),
    unsubscribe: dropped.flatMap(({ id, interest }) => (begun?.has(id) === true ? [] : [interest])),
    versions: versionsOf(changes, wanted),
  });
}

/**
 * Returns true if only the wildcard is subscribed. An empty list is the form of `*` that every
 * server understands (C-WILD-9).
 */
function isOnlyWildcard(subscribe: readonly Wanted[]): boolean {
  const [only] = subscribe;
  return (
    subscribe.length === 1 && only?.kind === "wildcard" && only.interest.parameters === undefined
  );
}

/**
 * Returns the versions of the cached resources that are subscribed, so that the server sends only
 * the others (C-RECON-3).
 */
function versionsOf({ cached }: RequestChanges, wanted: WantedReader): ReadonlyMap<string, string> {
  const versions = new Map<string, string>();
  for (const { name, version } of cached)
    if (version !== "" && wanted.covering(nameKey(name)).length > 0) versions.set(name, version);
  return versions;
}

function remember(former: Set<string>, id: string): void {
  former.add(id);
  const [oldest] = former.size > FORMER ? former : [];
  if (oldest !== undefined) former.delete(oldest);
}
