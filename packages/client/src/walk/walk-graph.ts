import {
  type Reference,
  type ResourceSource,
  type StoredResource,
  type Topic,
  XdsError,
} from "@xdstp/core";

import { type Gap, type Graph, type GraphNode, referenceKey } from "./graph.ts";
import type { KeyedReference, Place } from "./places.ts";

/** The source of a walk. */
export interface GraphReader {
  /** The revision of the source. */
  readonly revision: number;
  /** Returns what is known of a name. */
  look(reference: KeyedReference): Looked;
  /** Returns the references in a resource. */
  readonly references: KnownReferences;
  /**
   * Returns a reference that has a ConfigSource, with its place. `from` is the place of the
   * referring resource.
   */
  place(reference: Reference, from: Place | undefined): KeyedReference;
  /** Returns true if a reference is part of the graph. */
  follow(reference: Reference): boolean;
  /** The maximum number of names in a graph. */
  readonly limit: number;
}

/**
 * Makes one pass through the graph, from the root outward. A cycle ends where it began. Never
 * throws.
 */
export function walkGraph(root: KeyedReference, reader: GraphReader): Graph {
  const nodes = new Map<string, GraphNode>();
  const gaps = new Map<string, Gap>();
  const { revision } = reader;
  const from = new Map<KeyedReference, Reference>();
  const queue: KeyedReference[] = [root];
  /** The key of each name as it was found first. */
  const seen = new Map([[referenceKey(root), root.key]]);
  for (const reference of queue) {
    const { key, typeUrl, name } = reference;
    const looked = reader.look(reference);
    const { resource, error, answered } = looked;
    const referrer = from.get(reference);
    if (resource === undefined) {
      gaps.set(key, {
        typeUrl,
        name,
        answered,
        ...(referrer === undefined ? {} : { from: referrer }),
        ...(error === undefined ? {} : { error }),
      });
      continue;
    }
    nodes.set(key, nodeOf(reference, resource, looked));
    for (const said of reader.references(typeUrl, resource)) {
      const next = reader.follow(said) ? follow(said, reference, reader) : undefined;
      const id = isPlain(said) ? said.key : referenceKey(said);
      const known = seen.get(id);
      if (next === undefined || known === next.key) continue;
      if (known !== undefined) {
        gaps.set(next.key, inTwoPlaces(said, { typeUrl, name }));
        continue;
      }
      if (seen.size >= reader.limit)
        return { revision, nodes, gaps, fault: tooLarge(root, reader.limit) };
      seen.set(id, next.key);
      from.set(next, { typeUrl, name });
      queue.push(next);
    }
  }
  return { revision, nodes, gaps };
}

/**
 * Returns the reference with its place. Returns `undefined` if the ConfigSource of the enclosing
 * reference says that the resource comes from a file.
 */
function follow(
  said: KeyedReference,
  { at, within, from }: KeyedReference,
  reader: GraphReader,
): KeyedReference | undefined {
  if (within?.typeUrl !== said.typeUrl || said.source !== undefined)
    return isPlain(said) ? said : reader.place(said, at);
  return within.source === undefined
    ? undefined
    : reader.place({ ...said, source: within.source }, from);
}

/** Returns the node of a name that has a resource. */
export function nodeOf(
  { typeUrl, name }: Reference,
  resource: StoredResource,
  { error, restoredAt }: Looked,
): GraphNode {
  return {
    typeUrl,
    name,
    resource,
    ...(error !== undefined && { error }),
    ...(restoredAt !== undefined && { restoredAt }),
  };
}

/** Returns true for a reference without ConfigSources; its name is its key. */
function isPlain({ source, within }: Reference): boolean {
  return source === undefined && within === undefined;
}

/**
 * Returns a gap for a name that is found at two places: a reader of the configuration could not
 * tell which of the two resources a reference means.
 */
function inTwoPlaces({ typeUrl, name }: Reference, from: Reference): Gap {
  const error = new XdsError(
    "UNIMPLEMENTED",
    `${JSON.stringify(name)} is referred to at two sources; a walk follows a name at one of them`,
    { typeUrl, resource: name },
  );
  return { typeUrl, name, from, answered: true, error };
}

function tooLarge({ typeUrl, name }: Reference, limit: number): XdsError {
  return new XdsError(
    "RESOURCE_EXHAUSTED",
    `more than ${limit} names are reached from ${JSON.stringify(name)}; follow fewer types, or raise maxResources`,
    { typeUrl, resource: name },
  );
}

/**
 * The state of a name: a resource, or the reason why there is none. With neither, no answer has
 * arrived yet.
 */
export interface Looked {
  readonly resource?: StoredResource;
  /** Next to a resource: the reason why it may be out of date. */
  readonly error?: XdsError;
  /** True if an answer has arrived. */
  readonly answered: boolean;
  /** See {@link GraphNode}. */
  readonly restoredAt?: number | undefined;
}

/** Returns the state of an exact name from its topic. */
export function lookUp({ typeUrl, name }: Reference, topic: Topic): Looked {
  const { settled, stale } = topic;
  const [entry] = topic.members();
  const error = stale ?? entry?.error;
  const resource = entry?.resource;
  if (resource !== undefined)
    return error === undefined ? { resource, answered: true } : { resource, answered: true, error };
  // An unreachable server has not answered. A server whose resource was rejected has.
  if (error !== undefined) return { error, answered: settled || error.code !== "UNAVAILABLE" };
  return settled
    ? {
        error: new XdsError("NOT_FOUND", `${JSON.stringify(name)} does not exist`, {
          typeUrl,
          resource: name,
          reason: "missing",
        }),
        answered: true,
      }
    : { answered: false };
}

/**
 * Returns the references in a resource. Each payload is read once, as long as its resource is kept.
 */
export type KnownReferences = (
  typeUrl: string,
  resource: StoredResource,
) => readonly KeyedReference[];

const readers = new WeakMap<ResourceSource, KnownReferences>();

/**
 * Returns the reader of references for a source, which uses the data of its types. All walks over
 * the source share it.
 */
export function knownReferences(source: ResourceSource): KnownReferences {
  const reader = readers.get(source) ?? createReader(source);
  readers.set(source, reader);
  return reader;
}

function createReader(source: ResourceSource): KnownReferences {
  const known = new WeakMap<StoredResource, readonly KeyedReference[]>();
  return (typeUrl, resource) => {
    const found =
      known.get(resource) ??
      (source.descriptor(typeUrl)?.references?.(resource.payload.value) ?? []).map((reference) => ({
        ...reference,
        key: keyOf(reference),
      }));
    known.set(resource, found);
    return found;
  };
}

/** Includes the ConfigSources: a reference with another ConfigSource is another reference. */
function keyOf(reference: Reference): string {
  const { source, within } = reference;
  const key = referenceKey(reference);
  return source === undefined && within === undefined
    ? key
    : JSON.stringify([key, source?.join(), within && [within.source?.join()]]);
}
