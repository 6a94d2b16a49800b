import type { Clock, Reference, StoredResource, Timer, XdsError } from "@xdstp/core";

import type { Member } from "../member.ts";
import type { NameOptions, TypeSource, ValueOf, Watch } from "../watch.ts";

/** A resource that is reached from a root. */
export interface GraphNode extends Reference {
  readonly resource: StoredResource;
  /** Why it may be old: a newer state was rejected, the server is away. */
  readonly error?: XdsError;
}

/** A name that is referred to and that is not there. */
export interface Gap extends Reference {
  /** Who refers to it, the first that was come upon. Absent: it is the root. */
  readonly from?: Reference;
  /** It has an answer: it does not exist, or was rejected. False: it has not come yet, or has no server. */
  readonly answered: boolean;
  /** Why it is not there. Absent: it has not come yet. */
  readonly error?: XdsError;
}

/** All that is reached from a root, as of one revision of its source. Without gaps and fault it is complete: nothing in it refers to something that is not in it. */
export interface Graph {
  readonly revision: number;
  /** By {@link referenceKey}; the root first, then what is nearer to it. Names are spelled as in the payloads that refer to them. */
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly gaps: ReadonlyMap<string, Gap>;
  /** It was given up: there is more than the limit allows. */
  readonly fault?: XdsError;
}

/** A map key for a reference. A type URL has no line break. */
export function referenceKey({ typeUrl, name }: Reference): string {
  return `${typeUrl}\n${name}`;
}

/** The types that a walk follows, each under a word of the program's: `{ clusters: ClusterSchema }`. */
export type PartTypes = Readonly<Record<string, TypeSource<unknown>>>;

/** A composed configuration: a root and all that it refers to, at one revision, so that each name in it that is followed can be looked up in it (C-ORD-7). */
export interface Configuration<R, P extends PartTypes> {
  /** Of the root, as it was requested. */
  readonly name: string;
  /** The root. Absent: there is no configuration, `error` says why; stop using what came before. */
  readonly root?: Member<R>;
  /** The resources of each of the types of the option `types`, under its words, by the names under which payloads refer to them. */
  readonly parts: {
    readonly [Word in keyof P]: ReadonlyMap<string, Member<ValueOf<P[Word]>>>;
  };
  /** All of it, the root among it, by type URL and name. Of types without a schema `value` is the payload, which must not be changed. */
  readonly resources: ReadonlyMap<string, ReadonlyMap<string, Member<unknown>>>;
  /** What is referred to and not there, since it did not come in time: only with the option `initialFetchMs` (C-WARM-3). */
  readonly missing: readonly Gap[];
  /** What a newer state waits for, and why; meanwhile this one stays in force. */
  readonly pending: readonly Gap[];
  /** Next to a root: this may be old (a newer state waits for something that does not exist or was rejected, the server is away). Alone: why there is none. */
  readonly error?: XdsError;
}

/** A watch on a composed configuration: gives the newest one that is complete. */
export interface Walk<R, P extends PartTypes> extends Watch<Configuration<R, P>> {
  /** What it waits for now, also while nothing is wrong: for whoever shows how a start goes on. */
  readonly pending: readonly Gap[];
}

/** Options of a walk. */
export interface WalkOptions<P extends PartTypes> extends NameOptions {
  /**
   * The types that are followed, under words of your own; what comes of them is decoded at once, and rejected where it cannot be (C-ACK-5).
   * Default: all types that payloads refer to, undecoded. What a payload names of other types is not part of the configuration.
   */
  readonly types?: P;
  /** Names that are not followed though their type is: clusters of a bootstrap, for one. It must not throw. Default: none. */
  readonly skip?: (typeUrl: string, name: string) => boolean;
  /** Milliseconds after which the first configuration goes without what has not come, and says so in `missing` (C-WARM-3; Envoy's `initial_fetch_timeout` is 15,000). Default: 0, for ever: complete configurations only. */
  readonly initialFetchMs?: number;
  /**
   * A resource with a ConfigSource that says neither `ads` nor `self` is rejected, as by gRPC (C-GRPC-18).
   * Default: false. Names of such a ConfigSource are requested there, if the client has `sourceOf`; else the name is in `pending`.
   */
  readonly onlyAds?: boolean;
  /** How many names there may be in it; with more the last one stays in force. Default: 100,000. */
  readonly maxResources?: number;
  /** Ends it: a loop over it throws the reason. */
  readonly signal?: AbortSignal;
}

/** How long the first configuration waits for each name (C-WARM-3). */
export interface InitialFetch {
  /** Whether it goes on without this: an answer has come, or the time since it was first asked about is over. */
  mayLack(gap: Gap): boolean;
  /** There is a configuration, or no caller waits any more. */
  stop(): void;
}

/** @param ms - 0: for ever, and answers change nothing; @param onExpiry - called when the time of a name is over */
export function createInitialFetch(ms: number, clock: Clock, onExpiry: () => void): InitialFetch {
  const since = new Map<string, number>();
  let timer: Timer | undefined;
  const arm = (left: number): void => {
    timer ??= clock.after(left, () => {
      timer = undefined;
      onExpiry();
    });
  };
  return {
    mayLack(gap) {
      if (ms <= 0) return false;
      if (gap.answered) return true;
      const key = referenceKey(gap);
      const began = since.get(key) ?? clock.now();
      since.set(key, began);
      const left = began + ms - clock.now();
      if (left > 0) arm(left);
      return left <= 0;
    },
    stop() {
      since.clear();
      timer?.cancel();
      timer = undefined;
    },
  };
}
