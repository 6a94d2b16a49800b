import type { Graph } from "./graph.ts";
import type { KeyedReference } from "./place.ts";
import type { GraphReader } from "./walk-graph.ts";

/**
 * The graph after a change of these names, if it refers to the same as before: then nothing else has to be looked at (endpoints are what changes most).
 * undefined: it has to be walked.
 */
export function patchGraph(
  before: Graph | undefined,
  changed: Iterable<KeyedReference>,
  reader: GraphReader,
): Graph | undefined {
  if (before === undefined || before.fault !== undefined || before.gaps.size > 0) return undefined;
  const nodes = new Map(before.nodes);
  for (const reference of changed) {
    const { key, typeUrl, name } = reference;
    const node = nodes.get(key);
    if (node === undefined) continue;
    const { resource, error } = reader.look(reference);
    if (
      resource === undefined ||
      !isSame(reader.references(typeUrl, node.resource), reader.references(typeUrl, resource))
    )
      return undefined;
    nodes.set(
      key,
      error === undefined ? { typeUrl, name, resource } : { typeUrl, name, resource, error },
    );
  }
  return { revision: reader.revision, nodes, gaps: before.gaps };
}

function isSame(one: readonly KeyedReference[], other: readonly KeyedReference[]): boolean {
  return one.length === other.length && one.every(({ key }, n) => key === other[n]?.key);
}
