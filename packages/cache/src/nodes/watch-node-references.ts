import type { ResourceType, Topic } from "@xdstp/core";

import type { Cache } from "../cache.ts";
import {
  type ChangedResource,
  type DanglingEvent,
  type DanglingWatch,
  References,
} from "../dangling/references.ts";
import { followSource } from "../dangling/watch-dangling.ts";
import type { NodeLayer, OwnName } from "./node-layer.ts";

/** The options of {@link watchNodeReferences}. */
export interface NodeReferencesOptions {
  readonly shared: Cache;
  readonly types: readonly ResourceType[];
  /** The layers with content of their own. */
  readonly layers: Iterable<NodeLayer>;
  readonly onEvent: (event: DanglingEvent) => void;
}

/** A {@link DanglingWatch} over the shared content and the content of each key. */
export interface NodeReferences extends DanglingWatch {
  /** Notes names that were put into the layer or removed from it. */
  note(layer: NodeLayer, names: readonly OwnName[]): void;
}

/** The references of one key. */
interface OfKey {
  readonly references: References;
  /** Names that were put or removed since the last check. */
  readonly changed: OwnName[];
}

/**
 * Follows the references of the shared content, and those of the content of each key.
 * A key can add and replace names, and hides none. So if a name is missing for a key but not in the
 * shared content, content of the key refers to it.
 */
export function watchNodeReferences({
  shared,
  types,
  layers,
  onEvent,
}: NodeReferencesOptions): NodeReferences {
  const byKey = new Map<string, OfKey>();
  const typeOf = new Map(types.map((type) => [type.typeUrl, type]));
  const ofShared = followSource(shared, types, onEvent, (touched) => {
    for (const { references } of byKey.values()) references.review(touched);
  });
  const { within } = ofShared;

  const begin = (layer: NodeLayer): OfKey => {
    const { key } = layer;
    const topics = new Map<string, Topic>();
    const read = ({ typeUrl, name }: OwnName): readonly ChangedResource[] => {
      const type = typeOf.get(typeUrl);
      if (type === undefined) return [];
      const topic = topics.get(typeUrl) ?? layer.own(typeUrl);
      topics.set(typeUrl, topic);
      const resource = layer.owns(typeUrl, name) ? topic.get(name)?.resource : undefined;
      return [{ type, name, ...(resource && { resource }) }];
    };
    const body = {
      changed: () => ofKey.changed.splice(0).flatMap(read),
      // There may be many keys, so the state of a key without references is dropped.
      onChecked: () => {
        if (ofKey.references.isEmpty && byKey.get(key) === ofKey) byKey.delete(key);
      },
    };
    const isServed = (typeUrl: string, name: string): boolean =>
      layer.owns(typeUrl, name) || within.isServed(typeUrl, name);
    const ofKey: OfKey = {
      references: new References({ ...within, isServed, key, onEvent }, body),
      changed: [],
    };
    byKey.set(key, ofKey);
    return ofKey;
  };
  const note = (layer: NodeLayer, names: readonly OwnName[]): void => {
    const { references, changed } = byKey.get(layer.key) ?? begin(layer);
    for (const name of names) changed.push(name);
    references.wake();
  };
  for (const layer of layers) note(layer, [...layer.ownNames()]);
  return {
    note,
    list: () =>
      [ofShared.references, ...[...byKey.values()].map(({ references }) => references)].flatMap(
        (references) => references.list(),
      ),
    close() {
      ofShared.close();
      for (const { references } of byKey.values()) references.close();
    },
  };
}
