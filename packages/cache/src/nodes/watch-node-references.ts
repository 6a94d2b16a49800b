import type { ResourceType } from "@xdstp/core";

import type { Cache } from "../create-cache.ts";
import type { DanglingEvent, DanglingWatch } from "../dangling/dangling-reference.ts";
import { References } from "../dangling/references.ts";
import { referencesWithin, topicsOf } from "../dangling/watch-dangling.ts";
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
  /** The layer begins or ceases to have content of its own. */
  note(layer: NodeLayer): void;
}

/**
 * Follows what the shared content refers to, and what the content of each key refers to.
 * A key can add names and replace them, and hides none. So what is missing in the view of a key and not in the shared content is something that content of the key refers to.
 */
export function watchNodeReferences({ shared, types, layers, onEvent }: NodeReferencesOptions): NodeReferences {
  const byKey = new Map<string, References>();
  const within = referencesWithin(shared, types, onEvent);
  const ofShared = new References({ ...within, onLooked(touched) { for (const references of byKey.values()) references.review(touched); } });
  const note = (layer: NodeLayer): void => {
    const known = byKey.get(layer.key);
    if (known === undefined && layer.resources > 0) byKey.set(layer.key, referencesOf(layer));
    if (known === undefined || layer.resources > 0) return;
    known.look();
    known.close();
    byKey.delete(layer.key);
  };
  const referencesOf = (layer: NodeLayer): References => {
    const own = topicsOf((typeUrl) => layer.own(typeUrl), types);
    return new References({
      ...within, key: layer.key, referring: own, counts: (typeUrl, name) => layer.owns(typeUrl, name),
      isServed: (typeUrl, name) => (own(typeUrl).get(name)?.resource === undefined ? within.isServed(typeUrl, name) : true),
    });
  };
  for (const layer of layers) note(layer);
  return {
    note,
    list: () => [ofShared, ...byKey.values()].flatMap((references) => references.list()),
    close() { for (const references of [ofShared, ...byKey.values()]) references.close(); },
  };
}
