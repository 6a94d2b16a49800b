import type { XdsError } from "@xdstp/core";

import type { Member } from "../member.ts";
import type { TypeSource, ValueOf } from "../watched-type.ts";
import type { Gap } from "./graph.ts";

/** The types that a walk follows, each under a word of the program's: `{ clusters: ClusterSchema }`. */
export type PartTypes = Readonly<Record<string, TypeSource<unknown>>>;

/** The resources of each of these types, by the names under which payloads refer to them. */
export type Parts<P extends PartTypes> = {
  readonly [Word in keyof P]: ReadonlyMap<string, Member<ValueOf<P[Word]>>>;
};

/** A composed configuration: a root and all that it refers to, at one revision, so that each name in it that is followed can be looked up in it (C-ORD-7). */
export interface Configuration<R, P extends PartTypes> {
  /** Of the root, as it was requested. */
  readonly name: string;
  /** The root. Absent: there is no configuration, `error` says why; stop using what came before. */
  readonly root?: Member<R>;
  /** By the words of the option `types`. */
  readonly parts: Parts<P>;
  /** All of it, the root among it, by type URL and name. Of types without a schema `value` is the payload, which must not be changed. */
  readonly resources: ReadonlyMap<string, ReadonlyMap<string, Member<unknown>>>;
  /** What is referred to and not there, since it did not come in time: only with the option `initialFetchMs` (C-WARM-3). */
  readonly missing: readonly Gap[];
  /** What a newer state waits for, and why; meanwhile this one stays in force. */
  readonly pending: readonly Gap[];
  /** Next to a root: this may be old (a newer state waits for something that does not exist or was rejected, the server is away). Alone: why there is none. */
  readonly error?: XdsError;
}
