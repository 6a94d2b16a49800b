import {
  type ClientContext,
  type ClientFeed,
  type ClientVariant,
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

/** The node is field 2 of a `DiscoveryRequest`. */
const NODE = 2;

/** Number of former subscriptions that are remembered. */
const FORMER = 10_000;

/** What the server may think about one type on one stream. */
interface SotwMemory {
  readonly setup: TypeSetup;
  /** Of the response that was accepted last. */
  version: string;
  /** Of the last response of the type. */
  nonce: string;
  /** Ids of what the last request had. */
  sent: ReadonlySet<string>;
  /** Left out of one request, so that the next one subscribes again (C-TTL-3). */
  readonly without: Set<Wanted>;
  /** Ids of what was dropped on this stream. A server that had a response on its way may not have seen that (S-NONCE-6). */
  readonly former: Set<string>;
  /** So far the list was empty and meant everything. */
  isLegacy: boolean;
}

const sotw: ClientVariant<SotwMemory> = {
  name: "sotw",
  nodeField: NODE,
  silenceConfirms: false,
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
    // The version covers all that is subscribed: with a collection that is not cached yet, or not any more, the server would treat it as known (S-RECON-7).
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
  // All is requested again, by the empty list: on this stream that would need names in between, which not every server understands (C-WILD-9).
  needsNewStream: ({ added }, wanted, memory) =>
    memory.isLegacy &&
    added.values().some(({ kind, id }) => kind === "wildcard" && memory.sent.has(id)) &&
    isLegacyWildcard([...wanted], memory),
  request,
  absence: (response, wanted, { setup }) =>
    setup.type?.fullStateInSotw === true ? absenceIn(response, wanted) : undefined,
  repeat: ({ id }, { former }) => (former.has(id) ? "same-stream" : "not-needed"),
};

/** The SotW end of a client: a feed that requests what is subscribed from one server, over one stream for all types. */
export function createSotwClient(context: ClientContext): ClientFeed {
  return createClientFeed(context, sotw);
}

/** Each time all that is subscribed. Every request has the newest nonce of the type, also one that only changes names (C-NONCE-3). */
function request(
  changes: RequestChanges,
  wanted: WantedReader,
  memory: SotwMemory,
): ReturnType<ClientVariant<SotwMemory>["request"]> {
  const { answer } = changes;
  if (answer !== undefined) Object.assign(memory, { nonce: answer.nonce, version: answer.version });
  noteChanges(changes, memory);
  const { without, sent, isLegacy: wasLegacy } = memory;
  // Names that are new wait for the next request too: else a state could come of them without the collection that they are in.
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
  // The empty list would go on meaning everything: it is left by the newer form, and the next request is empty.
  if (wasLegacy && listed.length === 0) return { bytes: encode([{ name: "*" }]), more: true };
  const more = without.size > 0;
  without.clear();
  return { bytes: encode(memory.isLegacy ? [] : listed.map(({ interest }) => interest)), more };
}

type RequestNames = Parameters<typeof encodeRequest>[0]["names"];

/** A server would not send again what it has not seen leave the list. */
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

/** The form that every server understands; it cannot be gone back to once there were names (C-WILD-9). */
function isLegacyWildcard(listed: readonly Wanted[], { setup }: SotwMemory): boolean {
  const [only] = listed;
  return (
    (setup.type?.legacyWildcard ?? true) &&
    listed.length === 1 &&
    only?.kind === "wildcard" &&
    only.interest.parameters === undefined
  );
}
