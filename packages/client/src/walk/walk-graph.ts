import { XdsError, type Reference } from "@xdstp/core";

import { referenceKey, type Gap, type Graph, type GraphNode } from "./graph.ts";
import type { KnownReferences } from "./known-references.ts";
import type { KeyedReference, Place } from "./place.ts";
import type { Looked } from "./look-up.ts";

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
