import {
  allParts,
  type ClientContext,
  type ClientFeed,
  type ClientVariant,
  createAbsenceClassifier,
  createClientFeed,
  type RequestChanges,
  type TypeSetup,
  type Wanted,
  type WantedReader,
} from "@xdstp/protocol/client";
import { isGlob } from "@xdstp/uri";

import { absenceIn } from "./absence.ts";
import { encodeRequest } from "./encode-request.ts";
import { readResponse } from "./read-response.ts";

/** The field number of the node in a `DiscoveryRequest`. */
const NODE = 2;

/** The greatest number of former subscriptions that are kept. */
const FORMER = 10_000;

/** The assumptions that the server may make about one type on one stream. */
interface SotwMemory {
  readonly setup: TypeSetup;
  /** The version of the response that was last accepted. */
  version: string;
  /** The nonce of the last response of the type. */
  nonce: string;
  /** The ids of the interests in the last request. */
  sent: ReadonlySet<string>;
  /**
   * Interests that are left out of one request, so that the next one subscribes to them again
   * (C-TTL-3).
   */
  readonly without: Set<Wanted>;
  /**
   * The ids of interests that were unsubscribed on this stream. A server that had a response on its
   * way may not have noticed (S-NONCE-6).
   */
  readonly former: Set<string>;
  /** True while the list has always been empty and has meant everything. */
  isLegacy: boolean;
}

const sotw: ClientVariant<SotwMemory> = {
  name: "sotw",
  nodeField: NODE,
  silenceConfirms: false,
  parts: allParts,
  read: readResponse,
  faultOf: ({ name }, type) =>
    isGlob(name) && type?.fullStateInSotw !== true
      ? {
          text: `${JSON.stringify(name)}: SotW cannot report removals from a glob of this type; use delta, or request single names`,
          rule: "C-GLOB-10",
        }
      : undefined,
  begin: (setup, wanted, version) => ({
    setup,
    // The version covers everything that is subscribed. If a subscribed collection is not cached,
    // the server must not treat it as known (S-RECON-7).
    version: [...wanted].some(
      ({ kind, state }) => kind !== "name" && state.known.kind === "requested",
    )
      ? ""
      : version,
    nonce: "",
    sent: new Set(),
    without: new Set(),
    former: new Set(),
    isLegacy: false,
  }),
  // Everything has to be requested again with the empty list. On this stream that would need a list
  // of names in between, which not every server understands (C-WILD-9).
  needsNewStream: ({ added }, wanted, memory) =>
    memory.isLegacy &&
    added.values().some(({ kind, id }) => kind === "wildcard" && memory.sent.has(id)) &&
    isLegacyWildcard([...wanted], memory),
  request,
  absence: createAbsenceClassifier((response, wanted, { setup }) =>
    setup.type?.fullStateInSotw === true ? absenceIn(response, wanted) : undefined,
  ),
  repeat: ({ id }, { former }) => (former.has(id) ? "same-stream" : "not-needed"),
};

/**
 * Creates a SotW client: a feed that requests its subscriptions from one server, over one stream
 * for all types.
 */
export function createSotwClient(context: ClientContext): ClientFeed {
  return createClientFeed(context, sotw);
}

/**
 * Encodes a request with all subscriptions. It has the newest nonce of the type, even if it only
 * changes names (C-NONCE-3).
 */
function request(
  changes: RequestChanges,
  wanted: WantedReader,
  memory: SotwMemory,
): ReturnType<ClientVariant<SotwMemory>["request"]> {
  const { answer } = changes;
  if (answer !== undefined) Object.assign(memory, { nonce: answer.nonce, version: answer.version });
  noteChanges(changes, memory);
  const { without, sent, isLegacy: wasLegacy } = memory;
  // New names wait for the next request too. Otherwise a state could come with them and without the
  // collection that they are in.
  const all = [...wanted];
  const listed =
    without.size === 0 ? all : all.filter((one) => !without.has(one) && sent.has(one.id));
  memory.isLegacy = (changes.isFirst || wasLegacy) && isLegacyWildcard(listed, memory);
  memory.sent = new Set(listed.map(({ id }) => id));
  const encode = (names: RequestNames): Uint8Array =>
    encodeRequest({
      typeUrl: memory.setup.typeUrl,
      version: memory.version,
      nonce: memory.nonce,
      names,
      error: answer?.error,
    });
  // The empty list would still mean everything. So `*` is sent first, and the next request has the
  // empty list.
  if (wasLegacy && listed.length === 0) return { bytes: encode([{ name: "*" }]), more: true };
  const more = without.size > 0;
  without.clear();
  return { bytes: encode(memory.isLegacy ? [] : listed.map(({ interest }) => interest)), more };
}

type RequestNames = Parameters<typeof encodeRequest>[0]["names"];

/**
 * Notes changes of subscriptions. A server does not send a name again that has not left the list in
 * between.
 */
function noteChanges({ added, dropped, repeated }: RequestChanges, memory: SotwMemory): void {
  const { without, former, sent } = memory;
  for (const one of dropped) {
    without.delete(one);
    former.add(one.id);
    const [oldest] = former.size > FORMER ? former : [];
    if (oldest !== undefined) former.delete(oldest);
  }
  for (const one of added) if (sent.has(one.id)) without.add(one);
  for (const one of repeated) {
    without.add(one);
    former.delete(one.id);
  }
}

/**
 * Returns true for an empty list that means `*`, the form that every server understands. It cannot
 * be used again after a list with names (C-WILD-9).
 */
function isLegacyWildcard(listed: readonly Wanted[], { setup }: SotwMemory): boolean {
  const [only] = listed;
  return (
    (setup.type?.legacyWildcard ?? true) &&
    listed.length === 1 &&
    only?.kind === "wildcard" &&
    only.interest.parameters === undefined
  );
}
