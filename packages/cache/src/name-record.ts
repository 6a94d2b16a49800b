import type { ExactTopic } from "./exact-topic.ts";
import type { Group } from "./group.ts";
import type { StateEntry } from "./state-entry.ts";

/** Who put something. `onDemand`: a feed that knows what is wanted, so that what nobody wants is forgotten. */
export interface Owner {
  readonly onDemand: boolean;
}

/** Version and content digest that a name had before its last removal (B-VER-5). */
export interface LastVersion {
  readonly given: string;
  readonly digest: string;
}

/** What the cache knows of one name; the entry is replaced, the record stays. */
export class NameRecord {
  readonly key: string;
  /** The one glob that may cover it. */
  readonly group: Group | undefined;
  /** Whether `*` covers it. */
  readonly inWildcard: boolean;
  entry: StateEntry | undefined;
  /** Who put it last; undefined: the program itself. */
  owner: Owner | undefined;
  /** What was last removed. */
  last: LastVersion | undefined;
  /** The watched topic of this very name. Written by the index of topics. */
  topic: ExactTopic | undefined;

  constructor(key: string, group: Group | undefined, inWildcard: boolean) {
    this.key = key;
    this.group = group;
    this.inWildcard = inWildcard;
    this.entry = undefined;
    this.owner = undefined;
    this.last = undefined;
    this.topic = undefined;
  }
}
