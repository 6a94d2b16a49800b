import {
  type Clock,
  type Interest,
  InterestMap,
  type ResourceSink,
  type Timer,
  type TypedInterest,
  XdsError,
} from "@xdstp/core";
import type { ClientStatus } from "@xdstp/protocol/client";

import type { FederationServer, OpenServer } from "../federation-source.ts";

/** An interest, and the key of its name: equal for equal names (N-40). */
export interface KeyedInterest extends TypedInterest {
  readonly key: string;
}

/** The reason why a server, or its stream of one type, cannot be reached now. */
export interface LinkFailure {
  readonly error: XdsError;
  /**
   * The number of the report, counted per server. Each attempt to connect makes a new report, even
   * with the same text.
   */
  readonly report: number;
}

/** The parts of a federation that a server uses. */
export interface LinkHost {
  readonly clock: Clock;
  /** Milliseconds that a server without subscriptions stays open. */
  readonly idleMs: number;
  /** Returns a sink for the resources of one server. */
  part(): ResourceSink;
  /** Returns the sink that a server commits to. */
  sinkOf(link: ServerLink): ResourceSink;
  /** Opens a server, perhaps shared with other federations. */
  open(server: FederationServer): OpenServer;
}

/**
 * One server for all its subscribers. It is opened with the first subscription, and closed a while
 * after the last one. It has one stream, or one for each type, for all of its authorities
 * (C-AGG-1).
 */
export class ServerLink {
  readonly server: FederationServer;
  /** The reason why it cannot be reached (C-GRPC-4). */
  failure: LinkFailure | undefined;
  /** The types whose stream has failed, at a server that has one for each type (C-AGG-2). */
  readonly typeFailures: Map<string, LinkFailure> = new Map<string, LinkFailure>();
  /** Interests that the server reported as missing or settled while its answers did not count. */
  readonly unheard: Set<TypedInterest> = new Set<TypedInterest>();
  readonly #host: LinkHost;
  readonly #wanted = new InterestMap<Interest>();
  readonly #added = new InterestMap<Interest>();
  readonly #dropped = new InterestMap<Interest>();
  #reports = 0;
  #scheduled = false;
  #ended = false;
  #retired = false;
  #part: ResourceSink | undefined;
  #open: OpenServer | undefined;
  #abort = new AbortController();
  #idle: Timer | undefined;

  constructor(server: FederationServer, host: LinkHost) {
    this.server = server;
    this.#host = host;
  }

  /** The part of the sink with the resources of this server. */
  get part(): ResourceSink {
    return (this.#part ??= this.#host.part());
  }

  get status(): ClientStatus | undefined {
    return this.#open?.feed.status?.();
  }

  /** True if a server without streams has answered the last request. Absent: it has streams, or is not in use. */
  get answers(): boolean | undefined {
    return this.status === undefined ? this.#open?.feed.responded : undefined;
  }

  /** True if the server has answered. A feed without this information counts as answered. */
  get responded(): boolean {
    return this.#open?.feed.responded ?? true;
  }

  /**
   * Returns the reason why no resource of a type, or none at all, can be fetched from the server
   * now.
   */
  failureOf(typeUrl: string | undefined): LinkFailure | undefined {
    return this.failure ?? (typeUrl === undefined ? undefined : this.typeFailures.get(typeUrl));
  }

  /** Records that the server, or its stream of one type, cannot be reached. */
  fail(typeUrl: string | undefined, error: XdsError): void {
    const failure = { error, report: ++this.#reports };
    if (typeUrl === undefined) this.failure = failure;
    else this.typeFailures.set(typeUrl, failure);
  }

  nodeChanged(): void {
    this.#open?.feed.nodeChanged?.();
  }

  want({ typeUrl, interest, key }: KeyedInterest): void {
    if (this.#wanted.get(typeUrl, interest, key) !== undefined) return;
    this.#wanted.set(typeUrl, interest, key, interest);
    // A name that was unsubscribed in this turn is subscribed again: the server has deleted its
    // state with the unsubscription (C-DSUB-4).
    this.#added.set(typeUrl, interest, key, interest);
    this.#schedule();
  }

  unwant({ typeUrl, interest, key }: KeyedInterest): void {
    if (!this.#wanted.delete(typeUrl, interest, key)) return;
    if (!this.#added.delete(typeUrl, interest, key))
      this.#dropped.set(typeUrl, interest, key, interest);
    this.#schedule();
  }

  /** Unsubscribes and subscribes again, so that the server sends it again. */
  again(asked: KeyedInterest): void {
    this.unwant(asked);
    this.want(asked);
  }

  /** Ends the errors that were reported about names of these authorities. */
  forget(authorities: Iterable<string | null>): void {
    for (const authority of authorities) this.part.unavailable({ authority }, undefined);
  }

  /**
   * Called when another server replaces it. It is closed at once if it has no other users
   * (C-GRPC-6).
   */
  retire(): void {
    this.#retired = true;
    this.#schedule();
  }

  end(): void {
    this.#ended = true;
    this.#close();
  }

  /** Sends all changes of one turn in one request (C-SUB-10). */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      if (!this.#ended) this.#flush();
    });
  }

  #flush(): void {
    const updates = [...new Set([...this.#added.types(), ...this.#dropped.types()])].map(
      (typeUrl) =>
        [typeUrl, [...this.#added.ofType(typeUrl)], [...this.#dropped.ofType(typeUrl)]] as const,
    );
    this.#added.clear();
    this.#dropped.clear();
    this.#idle?.cancel();
    if (this.#wanted.size > 0 && this.#open === undefined) {
      this.#start();
      return;
    }
    for (const update of updates) this.#open?.feed.want?.(...update);
    if (this.#wanted.size > 0 || this.#open === undefined) this.#retired = false;
    else if (this.#retired) this.#close();
    else
      this.#idle = this.#host.clock.after(this.#host.idleMs, () => {
        this.#close();
      });
  }

  #start(): void {
    const open = (this.#open = this.#host.open(this.server));
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const sink = this.#host.sinkOf(this);
    open.feed.run(sink, signal).catch((error: unknown) => {
      if (!signal.aborted) sink.unavailable({}, XdsError.from(error));
    });
    for (const typeUrl of this.#wanted.types())
      open.feed.want?.(typeUrl, [...this.#wanted.ofType(typeUrl)], []);
  }

  #close(): void {
    this.#idle?.cancel();
    this.#abort.abort();
    this.#open?.close();
    this.#open = undefined;
    this.#retired = false;
    this.failure = undefined;
    this.typeFailures.clear();
  }
}
