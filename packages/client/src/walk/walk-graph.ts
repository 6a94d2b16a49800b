import {
  type Reference,
  type ResourceSource,
  type StoredResource,
  type Topic,
  XdsError,
} from "@xdstp/core";

import { type Gap, type Graph, type GraphNode, referenceKey } from "./graph.ts";
import type { KeyedReference, Place } from "./places.ts";

/** What a walk reads. */
export interface GraphReader {
  /** Of the source. */
  readonly revision: number;
  /** What is known of a name. */
  look(reference: KeyedReference): Looked;
  /** What a resource refers to. */
  readonly references: KnownReferences;
  /** A reference next to which a ConfigSource stands, with its place, by that of the resource that refers to it. */
  place(reference: Reference, from: Place | undefined): KeyedReference;
  /** Whether a reference is part of the graph. */
  follow(reference: Reference): boolean;
  /** How many names there may be in a graph. */
  readonly limit: number;
}

/** One pass through the graph, from the root outward; a cycle ends where it began. Never throws. */
export function walkGraph(root: KeyedReference, reader: GraphReader): Graph {
  const nodes = new Map<string, GraphNode>();
  const gaps = new Map<string, Gap>();
  const { revision } = reader;
  const from = new Map<KeyedReference, Reference>();
  const queue: KeyedReference[] = [root];
  /** By name, where it was looked up first. */
  const seen = new Map([[referenceKey(root), root.key]]);
  for (const reference of queue) {
    const { key, typeUrl, name } = reference;
    const { resource, error, answered } = reader.look(reference);
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
    nodes.set(
      key,
      error === undefined ? { typeUrl, name, resource } : { typeUrl, name, resource, error },
    );
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

/** With its place; undefined: it comes from a file, as whoever refers to its referrer says. */
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

/** Only its name is known, which is its key. */
function isPlain({ source, within }: Reference): boolean {
  return source === undefined && within === undefined;
}

/** Which of the two would be meant by the name, who reads the configuration could not tell. */
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

/** What is known of a name: a resource, or why there is none; with neither it has not come yet. */
export interface Looked {
  readonly resource?: StoredResource;
  /** Next to a resource: it may be old. */
  readonly error?: XdsError;
  /** It has an answer. */
  readonly answered: boolean;
}

/** What the topic of an exact name says now. */
export function lookUp({ typeUrl, name }: Reference, topic: Topic): Looked {
  const { settled, stale } = topic;
  const [entry] = topic.members();
  const error = stale ?? entry?.error;
  const resource = entry?.resource;
  if (resource !== undefined)
    return error === undefined ? { resource, answered: true } : { resource, answered: true, error };
  // A server that cannot be reached has said nothing; one that sent what was rejected has.
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

/** What resources refer to; each payload is read once, as long as its resource is kept. */
export type KnownReferences = (
  typeUrl: string,
  resource: StoredResource,
) => readonly KeyedReference[];

const readers = new WeakMap<ResourceSource, KnownReferences>();

/** The references in resources of a source, by the data of its types; one for all who walk it. */
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

/** With its ConfigSources, so that another one is another reference. */
function keyOf(reference: Reference): string {
  const { source, within } = reference;
  const key = referenceKey(reference);
  return source === undefined && within === undefined
    ? key
    : JSON.stringify([key, source?.join(), within && [within.source?.join()]]);
}
