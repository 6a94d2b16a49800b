import type { ExactTopic } from "./exact-topic.ts";
import type { Group } from "./group.ts";
import type { StateEntry } from "./state-entry.ts";
import type { Variant } from "./variants/variant.ts";

/** The writer of a resource. `onDemand`: a feed that knows the subscriptions, so that what has no subscribers is dropped. */
export interface Owner {
  readonly onDemand: boolean;
}

/** Version and content digest that a name had before its last removal (B-VER-5). */
export interface LastVersion {
  readonly given: string;
  readonly digest: string;
}

/** What the cache knows of one name, or of one variant of it; the entry is replaced, the record stays. */
export class NameRecord {
  readonly key: string;
  /** The one glob that may cover it. */
  readonly group: Group | undefined;
  /** Whether `*` covers it. */
  readonly inWildcard: boolean;
  entry: StateEntry | undefined;
  /** Where its group lists it, while it exists or has a tombstone; else -1. */
  place: number;
  /** Who put it last; undefined: the program itself. */
  owner: Owner | undefined;
  /** What was last removed. */
  last: LastVersion | undefined;
  /** The watched topic of this very name. Written by the index of topics. */
  topic: ExactTopic | undefined;
  /** Which variant of the name (TP2). Of few, so the others have no field for it. */
  declare readonly variant?: Variant;

  constructor(key: string, group: Group | undefined, inWildcard: boolean, variant?: Variant) {
    this.key = key;
    this.group = group;
    this.inWildcard = inWildcard;
    this.entry = undefined;
    this.place = -1;
    this.owner = undefined;
    this.last = undefined;
    this.topic = undefined;
    if (variant !== undefined) this.variant = variant;
  }
}
