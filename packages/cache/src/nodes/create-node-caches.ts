import {
  forwardSource,
  type NodeClaim,
  type Rejection,
  type ResourceSource,
  type StoredResource,
  systemClock,
  type Transaction,
  XdsError,
} from "@xdstp/core";

import type { Cache, CacheOptions } from "../cache.ts";
import { createCache } from "../cache-core.ts";
import type { DanglingEvent, DanglingWatch } from "../dangling/references.ts";
import { describeValue } from "../reject-put.ts";
import { createKeyedRevisions, type KeyedRevisions } from "./keyed-revisions.ts";
import { type NodeContent, NodeLayer, type OwnName } from "./node-layer.ts";
import { type NodeReferences, watchNodeReferences } from "./watch-node-references.ts";

/**
 * Content per node: shared content, and content that replaces it for the clients with one key. All
 * of it has one sequence of revisions.
 */
export interface NodeCaches extends AsyncDisposable {
  /** The content for all clients, as far as their key does not replace it. */
  readonly shared: Cache;
  /**
   * Returns the content of a key, which is created on demand; the same object while it is used.
   * Throws INVALID_ARGUMENT for an empty key.
   */
  of(key: string): NodeContent;
  /** Returns the keys under which resources are put. */
  keys(): readonly string[];
  /**
   * Commits to several keys, all or nothing: if a part is rejected, no part changes anything. The
   * key of the shared content is `undefined`.
   * Each part has a revision of its own; those of keys come before the shared one, and no client is
   * served between them. Throws as `of` and `commit` do for a malformed transaction.
   */
  commit(parts: ReadonlyMap<string | undefined, Transaction>): {
    /**
     * The revision of the first part, so that `waitForAck` with it waits for all parts. If a put
     * was rejected: the newest revision, of an earlier transaction.
     */
    readonly revision: number;
    /**
     * The rejections, each with the key of its part; `undefined` is the shared content. Absent: all
     * resources were accepted.
     */
    readonly rejected?: readonly (Rejection & { readonly key: string | undefined })[];
  };
  /** The options of a server: `createServer({ ...nodes.serving })`. */
  readonly serving: {
    readonly source: ResourceSource;
    readonly sourceFor: ((peer: { readonly node?: NodeClaim }) => ResourceSource) & {
      readonly viewsOnly: true;
    };
    /** Returns all resources, of the shared content (without `viewKey`) and of each key. */
    readonly resources: () => Iterable<{
      readonly typeUrl: string;
      readonly resource: StoredResource;
      readonly viewKey?: string;
    }>;
  };
  /** The revision of the newest transaction in any content; 0 before the first. */
  readonly revision: number;
  /** The number of resources in the shared content and under all keys. */
  readonly resources: number;
  /**
   * Watches for dangling references, as `watchDangling` of this package does, in the types of the
   * options, in the shared content and in the content of each key. An event about the content of a
   * key has that `key`.
   * References of the shared content are looked up in the shared content only, since there may be
   * clients without a key.
   */
  watchDangling(onEvent?: (event: DanglingEvent) => void): DanglingWatch;
  /** Ends the feeds and timers of the shared content. */
  close(): Promise<void>;
}

/**
 * Creates caches for content per node: another cluster, route or listener under the same name,
 * chosen by the fields of the node ("snapshot per node").
 * A key without content costs nothing except its topics. Its clients see the shared content until
 * something is put under the key.
 */
export function createNodeCaches({
  keyOf,
  ...options
}: Omit<CacheOptions, "revisions"> & {
  /**
   * Returns the key of a client; called once per stream, when its first message has come.
   * undefined, or empty: the client sees the shared content only.
   * If it throws, or returns a value that is not a string, the stream is rejected with UNAVAILABLE,
   * and the event `rejected` has the reason.
   */
  readonly keyOf: (node: NodeClaim) => string | undefined;
}): NodeCaches {
  const revisions = { last: 0 };
  const { clock = systemClock, tombstoneMs = 600_000 } = options;
  const shared = createCache({ ...options, revisions });
  const keyed = createKeyedRevisions();
  const root = rootView(shared, revisions, keyed);
  const used = new Map<string, WeakRef<NodeLayer>>();
  const owned = new Map<string, NodeLayer>();
  const watches = new Set<NodeReferences>();
  const unused = new FinalizationRegistry<string>((key) => {
    if (used.get(key)?.deref() === undefined) used.delete(key);
  });
  const onOwn = (layer: NodeLayer, names: readonly OwnName[]): void => {
    if (layer.resources > 0) owned.set(layer.key, layer);
    else owned.delete(layer.key);
    for (const watch of watches) watch.note(layer, names);
  };
  const of = (key: string): NodeLayer => {
    if (typeof key !== "string" || key === "")
      throw new XdsError(
        "INVALID_ARGUMENT",
        `${JSON.stringify(key)} is not a node key; give a text that is not empty, and use "shared" for content of all nodes`,
      );
    const known = used.get(key)?.deref();
    if (known !== undefined) return known;
    const layer = new NodeLayer({
      key,
      shared,
      root,
      revisions,
      keyed,
      cacheOptions: options,
      now: () => clock.now(),
      tombstoneMs,
      isAnyOwned: () => owned.size > 0,
      onOwn,
    });
    used.set(key, new WeakRef(layer));
    unused.register(layer, key);
    return layer;
  };
  const close = async (): Promise<void> => shared.close();
  return {
    shared,
    of,
    close,
    serving: {
      source: root,
      sourceFor: Object.assign(
        ({ node }: { readonly node?: NodeClaim }) => chosen(node, keyOf, of) ?? root,
        { viewsOnly: true } as const,
      ),
      *resources() {
        for (const typeUrl of shared.typeUrls) yield* resourcesOf(shared, typeUrl);
        for (const [viewKey, layer] of owned)
          for (const typeUrl of layer.typeUrls)
            for (const one of resourcesOf(layer, typeUrl)) yield { ...one, viewKey };
      },
    },
    keys: () => [...owned.keys()],
    commit(parts) {
      const all = Array.from(parts, ([key, transaction]) => ({
        key,
        sink: key === undefined ? shared : of(key),
        transaction,
      })).sort((one, other) => Number(one.key === undefined) - Number(other.key === undefined));
      const rejected = all.flatMap(({ key, sink, transaction }) =>
        sink.checkCommit(transaction).map((rejection) => ({ ...rejection, key })),
      );
      if (rejected.length > 0) return { revision: revisions.last, rejected };
      const [first] = all.map(({ sink, transaction }) => sink.commit(transaction).revision);
      if (first !== undefined) keyed.note(first, [...parts.keys()]);
      return { revision: first ?? revisions.last };
    },
    watchDangling(onEvent = () => undefined) {
      const watch = watchNodeReferences({
        shared,
        types: options.types ?? [],
        layers: owned.values(),
        onEvent,
      });
      watches.add(watch);
      return {
        list: () => watch.list(),
        close() {
          watches.delete(watch);
          watch.close();
        },
      };
    },
    get revision() {
      return revisions.last;
    },
    get resources() {
      return owned
        .values()
        .reduce((sum, { resources }) => sum + resources, shared.counters.resources);
    },
    [Symbol.asyncDispose]: close,
  };
}

function* resourcesOf(
  content: Pick<NodeContent, "held">,
  typeUrl: string,
): Generator<{ readonly typeUrl: string; readonly resource: StoredResource }> {
  for (const { resource } of content.held(typeUrl))
    if (resource !== undefined) yield { typeUrl, resource };
}

function chosen(
  node: NodeClaim | undefined,
  keyOf: (node: NodeClaim) => string | undefined,
  of: (key: string) => ResourceSource,
): ResourceSource | undefined {
  if (node === undefined) return undefined;
  const key: unknown = keyOf(node);
  if (key === undefined || key === "") return undefined;
  if (typeof key !== "string")
    throw new XdsError(
      "INVALID_ARGUMENT",
      `keyOf returned ${describeValue(key)} for node ${JSON.stringify(node.id)}; return a text, or undefined for the shared content`,
    );
  return of(key);
}

/** Returns the shared content as a source, with the revisions of all content. */
function rootView(
  shared: Cache,
  revisions: { readonly last: number },
  keyed: KeyedRevisions,
): ResourceSource {
  return forwardSource(shared, {
    get revision() {
      return revisions.last;
    },
    changedBy: (revision) => keyed.concerns(revision, undefined),
  });
}

const fields: Readonly<Record<string, (node: NodeClaim) => unknown>> = {
  id: ({ id }) => id,
  cluster: ({ cluster }) => cluster,
  user_agent_name: ({ userAgentName }) => userAgentName,
  "locality.region": ({ place }) => place?.region,
  "locality.zone": ({ place }) => place?.zone,
  "locality.sub_zone": ({ place }) => place?.subZone,
};

/**
 * Returns a `keyOf` that reads one field of a node: `id`, `cluster`, `user_agent_name`,
 * `locality.region`, `locality.zone`, `locality.sub_zone` or `metadata.PATH`, such as
 * `metadata.team.name`.
 * Texts, numbers and booleans become keys; a node without the field, or with another kind of value,
 * has no key. Throws INVALID_ARGUMENT for a field that nodes do not have.
 */
export function nodeField(name: string): (node: NodeClaim) => string | undefined {
  const read = Object.hasOwn(fields, name) ? fields[name] : metadataAt(name);
  if (read === undefined)
    throw new XdsError(
      "INVALID_ARGUMENT",
      `a node has no field ${JSON.stringify(name)}; the fields are ${Object.keys(fields).join(", ")} and metadata.PATH`,
    );
  return (node) => {
    const value = read(node);
    return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : undefined;
  };
}

function metadataAt(name: string): ((node: NodeClaim) => unknown) | undefined {
  const [first, ...path] = name.split(".");
  if (first !== "metadata" || path.length === 0 || path.includes("")) return undefined;
  return ({ metadata }) =>
    path.reduce<unknown>(
      (value, part) => (isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined),
      metadata,
    );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
