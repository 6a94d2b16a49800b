import type { ResourceType } from "@xdstp/core";

import type { Cache } from "../create-cache.ts";
import type { DanglingEvent, DanglingWatch } from "../dangling/dangling-reference.ts";
import { References } from "../dangling/references.ts";
import { followSource } from "../dangling/watch-dangling.ts";
import type { NodeLayer } from "./node-layer.ts";

/** What {@link watchNodeReferences} needs. */
export interface NodeReferencesOptions {
  readonly shared: Cache;
  readonly types: readonly ResourceType[];
  /** The layers with content of their own. */
  readonly layers: Iterable<NodeLayer>;
  readonly onEvent: (event: DanglingEvent) => void;
}

/** A {@link DanglingWatch} over the shared content and the content of each key. */
export interface NodeReferences extends DanglingWatch {
  /** Something was put into the layer, or removed. */
  note(layer: NodeLayer): void;
}

/**
 * Follows what the shared content refers to, and what the content of each key refers to.
 * A key can add names and replace them, and hides none. So what is missing in the view of a key and not in the shared content is something that content of the key refers to.
 */
export function watchNodeReferences({ shared, types, layers, onEvent }: NodeReferencesOptions): NodeReferences {
  const byKey = new Map<string, References>();
  const { references: ofShared, within } = followSource(shared, types, { onEvent, onLooked(touched) { for (const references of byKey.values()) references.review(touched); } });
  const referencesOf = (layer: NodeLayer): References => new References({
    ...within, onEvent, key: layer.key, counts: (typeUrl, name) => layer.owns(typeUrl, name),
    isServed: (typeUrl, name) => layer.owns(typeUrl, name) || within.isServed(typeUrl, name),
  });
  const note = (layer: NodeLayer): void => {
    const references = byKey.get(layer.key) ?? referencesOf(layer);
    byKey.set(layer.key, references);
    // Keys are many, and have few types: only those are followed.
    for (const typeUrl of layer.ownTypes()) references.follow(typeUrl, () => layer.own(typeUrl));
    if (layer.resources > 0) return;
    references.look();
    references.close();
    byKey.delete(layer.key);
  };
  for (const layer of layers) note(layer);
  return {
    note,
    list: () => [ofShared, ...byKey.values()].flatMap((references) => references.list()),
    close() { for (const references of [ofShared, ...byKey.values()]) references.close(); },
  };
}
