import type { Clock, Reference, StoredResource, Timer, XdsError } from "@xdstp/core";

import type { Member } from "../member.ts";
import type { NameOptions, TypeSource, ValueOf, Watch } from "../watch.ts";

/** A resource that is reached from a root. */
export interface GraphNode extends Reference {
  readonly resource: StoredResource;
  /**
   * The reason why the resource may be out of date: a newer state was rejected, or the server is
   * unreachable.
   */
  readonly error?: XdsError;
  /** When a server sent the resource, if it is from the snapshot of the client (ms since the epoch). */
  readonly restoredAt?: number;
}

/** A referenced name without a resource. */
export interface Gap extends Reference {
  /** The first resource found that refers to the name. Absent: the name is the root. */
  readonly from?: Reference;
  /**
   * True if an answer has arrived: the resource does not exist, or was rejected. False if no answer
   * has arrived yet, or there is no server.
   */
  readonly answered: boolean;
  /** The reason why there is no resource. Absent: no answer has arrived yet. */
  readonly error?: XdsError;
}

/**
 * All resources that are reached from a root, as of one revision of the source. Without gaps and
 * fault the graph is complete: each reference in it leads to a resource in it.
 */
export interface Graph {
  readonly revision: number;
  /**
   * By {@link referenceKey}: the root first, then in order of the distance from it. Names are
   * spelled as in the payloads that refer to them.
   */
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly gaps: ReadonlyMap<string, Gap>;
  /** The walk was stopped: the graph has more names than the limit. */
  readonly fault?: XdsError;
}

/**
 * Returns a map key for a reference. The separator is unambiguous, since a type URL has no line
 * break.
 */
export function referenceKey({ typeUrl, name }: Reference): string {
  return `${typeUrl}\n${name}`;
}

/**
 * The types that a walk follows, each under a key that the program chooses:
 * `{ clusters: ClusterSchema }`.
 */
export type PartTypes = Readonly<Record<string, TypeSource<unknown>>>;

/**
 * A composed configuration: a root and all resources that it refers to, at one revision. Each name
 * in it that is followed can be looked up in it (C-ORD-7).
 */
export interface Configuration<R, P extends PartTypes> {
  /** The requested name of the root. */
  readonly name: string;
  /**
   * The root. Absent: there is no configuration, and `error` says why; stop using the previous one.
   */
  readonly root?: Member<R>;
  /**
   * The resources of each type of the option `types`, under the keys of that option, by the names
   * under which payloads refer to them.
   */
  readonly parts: {
    readonly [Word in keyof P]: ReadonlyMap<string, Member<ValueOf<P[Word]>>>;
  };
  /**
   * All resources, including the root, by type URL and name. For types without a schema, `value` is
   * the payload, which must not be modified.
   */
  readonly resources: ReadonlyMap<string, ReadonlyMap<string, Member<unknown>>>;
  /**
   * Referenced names that did not arrive in time; only with the option `initialFetchMs` (C-WARM-3).
   */
  readonly missing: readonly Gap[];
  /**
   * The names that a newer state waits for, and why. Meanwhile this configuration stays in force.
   */
  readonly pending: readonly Gap[];
  /**
   * Next to a root: this configuration may be out of date, since the server is unreachable, or a
   * newer state refers to a resource that does not exist or was rejected. Without a root: the
   * reason why there is none.
   */
  readonly error?: XdsError;
  /**
   * When a server sent the newest of the resources that are from the option `snapshot` of the
   * client, in milliseconds since the epoch. Present while this configuration has such resources
   * that no server has confirmed since the start.
   */
  readonly restoredAt?: number;
}

/** A watch on a composed configuration. It returns the newest one that is complete. */
export interface Walk<R, P extends PartTypes> extends Watch<Configuration<R, P>> {
  /**
   * The names that the walk waits for at this moment, even if there is no error; for example to
   * show the progress of a start.
   */
  readonly pending: readonly Gap[];
}

/** Options of a walk. */
export interface WalkOptions<P extends PartTypes> extends NameOptions {
  /**
   * The types that are followed, under keys of your choice. Their resources are decoded when they
   * arrive, and rejected if they cannot be decoded (C-ACK-5).
   * Default: all types that payloads refer to, undecoded. References to other types are not part of
   * the configuration.
   */
  readonly types?: P;
  /**
   * Returns true for a name that is not followed although its type is, such as a cluster of the
   * bootstrap. It must not throw. Default: none.
   */
  readonly skip?: (typeUrl: string, name: string) => boolean;
  /**
   * Milliseconds after which the first configuration is returned without the names that have not
   * arrived; they are in `missing` (C-WARM-3; Envoy's `initial_fetch_timeout` is 15,000). Default:
   * 0, no limit: complete configurations only.
   */
  readonly initialFetchMs?: number;
  /**
   * True if a resource with a ConfigSource that sets neither `ads` nor `self` is rejected, as gRPC
   * does (C-GRPC-18).
   * Default: false. Then names with such a ConfigSource are requested there if the client has
   * `sourceOf`; else they are in `pending`.
   */
  readonly onlyAds?: boolean;
  /**
   * The maximum number of names. If a newer configuration has more, the last one stays in force.
   * Default: 100,000.
   */
  readonly maxResources?: number;
  /** Ends the walk when it aborts: a loop throws the reason. */
  readonly signal?: AbortSignal;
}

/** The time that the first configuration waits for each name (C-WARM-3). */
export interface InitialFetch {
  /**
   * Returns true if the configuration may go without a name: an answer has arrived, or its time is
   * over. The time begins with the first call for the name.
   */
  mayLack(gap: Gap): boolean;
  /** Cancels the timer: a configuration exists, or the walk has ended. */
  stop(): void;
}

/**
 * Creates an `InitialFetch`.
 * @param ms - Milliseconds for each name. 0: no limit, and no name may be absent
 * @param onExpiry - Called when the time of a name is over
 */
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
