import { XdsError, type Reference } from "@xdstp/core";

import { referenceKey, type Gap, type Graph, type GraphNode } from "./graph.ts";
import type { KeyedReference, KnownReferences } from "./known-references.ts";
import type { Looked } from "./look-up.ts";

/** What a walk reads. */
export interface GraphReader {
  /** Of the source. */
  readonly revision: number;
  /** What is known of a name. */
  look(reference: KeyedReference): Looked;
  /** What a resource refers to. */
  readonly references: KnownReferences;
  /** Whether a reference is part of the graph. */
  follow(reference: Reference): boolean;
  /** How many names there may be in a graph. */
  readonly limit: number;
}

/** One pass through the graph, from the root outward; a cycle ends where it began. Never throws. */
export function walkGraph(root: Reference, reader: GraphReader): Graph {
  const nodes = new Map<string, GraphNode>();
  const gaps = new Map<string, Gap>();
  const { revision } = reader;
  const from = new Map<KeyedReference, Reference>();
  const queue: KeyedReference[] = [{ ...root, key: referenceKey(root) }];
  const seen = new Set(queue.map(({ key }) => key));
  for (const reference of queue) {
    const { key, typeUrl, name } = reference;
    const { resource, error, answered } = reader.look(reference);
    const referrer = from.get(reference);
    if (resource === undefined) {
      gaps.set(key, { typeUrl, name, answered, ...(referrer === undefined ? {} : { from: referrer }), ...(error === undefined ? {} : { error }) });
      continue;
    }
    nodes.set(key, error === undefined ? { typeUrl, name, resource } : { typeUrl, name, resource, error });
    for (const next of reader.references(typeUrl, resource)) {
      if (seen.has(next.key) || !reader.follow(next)) continue;
      if (seen.size >= reader.limit) return { revision, nodes, gaps, fault: tooLarge(root, reader.limit) };
      seen.add(next.key);
      from.set(next, { typeUrl, name });
      queue.push(next);
    }
  }
  return { revision, nodes, gaps };
}

function tooLarge({ typeUrl, name }: Reference, limit: number): XdsError {
  return new XdsError("RESOURCE_EXHAUSTED", `more than ${limit} names are reached from ${JSON.stringify(name)}; follow fewer types, or raise maxResources`, { typeUrl, resource: name });
}
