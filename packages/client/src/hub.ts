import type { Cache } from "@xdstp/cache";
import { XdsError, type Interest } from "@xdstp/core";

import { createDecoder, type Decoder } from "./decoder.ts";
import type { NameOptions, WatchedType } from "./watch.ts";
import type { Taking } from "./taking.ts";

/** The parts that the watches of one client share. */
export interface Hub {
  readonly cache: Cache;
  readonly taking: Taking;
  /**
   * Returns the subscription for a name that a program gives. Throws an XdsError if the name is
   * invalid.
   */
  interestOf(typeUrl: string, name: string, options: NameOptions): Interest;
  /** Returns the decoder of a type. All watches with the same schema share one. */
  decoder<T>(source: object, type: WatchedType<T>): Decoder<T>;
  /**
   * Returns the error with the id of the node in its text, as a program receives it (C-GRPC-16).
   */
  tell(error: XdsError): XdsError;
  /**
   * Returns when a server sent what is cached for an interest, if it is from the snapshot of the
   * client (ms since the epoch).
   */
  readonly restoredAt: (typeUrl: string, interest: Interest) => number | undefined;
  /** The open watches. Closing the client closes them. */
  readonly open: Set<{ close(): void }>;
}

/** The parameters of `createHub`. */
export type HubParts = Pick<Hub, "cache" | "taking" | "interestOf"> & {
  readonly nodeId: string;
  /** Default: the client has no snapshot. */
  readonly restoredAt?: Hub["restoredAt"] | undefined;
  /** Called each time the last watch has ended. Default: nothing. */
  readonly onIdle?: () => void;
};

/** Creates the hub of a client. */
export function createHub({
  cache,
  taking,
  interestOf,
  nodeId,
  restoredAt = () => undefined,
  onIdle,
}: HubParts): Hub {
  const decoders = new WeakMap<object, Decoder<unknown>>();
  return {
    cache,
    taking,
    interestOf,
    restoredAt,
    open: new OpenWatches(onIdle),
    decoder<T>(source: object, type: WatchedType<T>): Decoder<T> {
      const known = decoders.get(source) as Decoder<T> | undefined;
      const decoder = known ?? createDecoder(type);
      if (known === undefined) decoders.set(source, decoder);
      return decoder;
    },
    tell({ code, text, context }) {
      return new XdsError(code, `${text} (node ${JSON.stringify(nodeId)})`, { ...context, nodeId });
    },
  };
}

/** The longest delay of a timer of Node, in milliseconds. */
const LONGEST = 2 ** 31 - 1;

/**
 * The open watches. They keep the process alive between two connection attempts: then no connection
 * exists to do so, and the timers of a clock do not.
 */
class OpenWatches extends Set<{ close(): void }> {
  readonly #onNone: () => void;
  #alive: NodeJS.Timeout | undefined;

  constructor(onNone: () => void = () => undefined) {
    super();
    this.#onNone = onNone;
  }

  override add(watch: { close(): void }): this {
    this.#alive ??= setInterval(() => undefined, LONGEST);
    return super.add(watch);
  }

  override delete(watch: { close(): void }): boolean {
    const was = super.delete(watch);
    if (this.size > 0 || !was) return was;
    clearInterval(this.#alive);
    this.#alive = undefined;
    this.#onNone();
    return was;
  }
}
