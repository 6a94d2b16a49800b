import type { Cache } from "@xdstp/cache";
import { interestKey, type Interest, type ResourceFeed, type ResourceSink, type Scope, type Transaction, type XdsError } from "@xdstp/core";
import type { ClientFeed, ClientStatus } from "@xdstp/core/client";

import { orphansOf } from "./orphans-of.ts";
import type { Taking } from "./taking.ts";

/** One server of a chain. */
export interface ChainServer {
  /** For people and metrics: its URI. */
  readonly name: string;
  /** A client end towards it; made anew each time the server comes into use. */
  open(): { readonly feed: ClientFeed; close(): void };
}

/** One server, as the client knows it. */
export interface ServerStatus {
  /** Its URI. */
  readonly name: string;
  /** Absent: it is not in use (C-GRPC-6). */
  readonly status?: ClientStatus;
  /** Why it cannot be reached (C-GRPC-4). Absent: it can, as far as is known. */
  readonly failure?: XdsError;
}

/** Servers in order of preference, of which the first that answers is used (C-GRPC-6). */
export interface ServerChain {
  status(): readonly ServerStatus[];
  nodeChanged(): void;
}

/**
 * Fills a cache from the first server. A connectivity error while something that is wanted is not cached brings the next one into use, beside those before it;
 * the first that comes from one of these ends the use of the later ones. Readers hear of an error when every server has failed.
 */
export function createServerChain(cache: Cache, servers: readonly ChainServer[], taking: Taking): ServerChain {
  const chain = new Chain(cache, servers, taking);
  for (const link of chain.links) cache.addFeed(link);
  return chain;
}

class Chain implements ServerChain {
  readonly links: readonly Link[];
  readonly taking: Taking;
  readonly cache: Cache;
  /** How many are in use, from the first on. */
  #used = 1;

  constructor(cache: Cache, servers: readonly ChainServer[], taking: Taking) {
    this.cache = cache;
    this.taking = taking;
    this.links = servers.map((server, index) => new Link(this, server, index));
    this.links[0]?.use();
  }

  status(): ReturnType<ServerChain["status"]> {
    return this.links.map(({ name, status, failure }) => ({ name, ...(status !== undefined && { status }), ...(failure !== undefined && { failure }) }));
  }

  nodeChanged(): void {
    for (const link of this.links) link.nodeChanged();
  }

  /** Something has come from a server: later ones have had their time. */
  onNews(index: number): void {
    for (const link of this.links.slice(index + 1, this.#used)) link.leave();
    this.#used = index + 1;
    this.#tell();
  }

  /** A server has answered, whatever it is. */
  onAnswer(): void {
    this.#tell();
  }

  /** It is the one that is asked last, so that nobody else has to say anything. */
  isInUse(index: number): boolean {
    return index === this.#used - 1;
  }

  onFailure(): void {
    this.fallBack();
    this.#tell();
  }

  /** Asks the next server, if the last one in use has failed and something is missing. */
  fallBack(): void {
    const next = this.links[this.#used];
    if (next === undefined || this.links[this.#used - 1]?.failure === undefined || !this.#lacks()) return;
    this.#used++;
    next.use();
  }

  /** A reader hears of failures only when there is nobody left to ask. */
  #tell(): void {
    const failures = this.links.map(({ failure }) => failure);
    this.links[0]?.tell(failures.includes(undefined) ? undefined : failures.at(-1));
  }

  /** Received, or known not to exist, counts as cached. */
  #lacks(): boolean {
    return this.links[0]?.wanted().some(([typeUrl, interest]) => {
      const topic = this.cache.topic(typeUrl, interest);
      return !topic.settled && topic.members().length === 0;
    }) ?? false;
  }
}

/** One server as a feed of the cache: told of all that is wanted, and handing it on while it is in use. */
class Link implements ResourceFeed {
  readonly name: string;
  failure: XdsError | undefined;
  readonly #chain: Chain;
  readonly #server: ChainServer;
  readonly #index: number;
  readonly #wanted = new Map<string, Map<string, Interest>>();
  #sink: ResourceSink | undefined;
  #signal: AbortSignal | undefined;
  #inUse = false;
  #told: XdsError | undefined;
  #end: { readonly feed: ClientFeed; close(): void } | undefined;
  #abort = new AbortController();

  constructor(chain: Chain, server: ChainServer, index: number) {
    this.name = server.name;
    this.#chain = chain;
    this.#server = server;
    this.#index = index;
  }

  get status(): ClientStatus | undefined { return this.#end?.feed.status(); }

  *wanted(): Generator<readonly [typeUrl: string, interest: Interest]> {
    for (const [typeUrl, interests] of this.#wanted) for (const interest of interests.values()) yield [typeUrl, interest];
  }

  async run(sink: ResourceSink, signal: AbortSignal): Promise<void> {
    this.#sink = sink;
    this.#signal = signal;
    if (this.#inUse) this.#start();
    await new Promise<void>((resolve) => { signal.addEventListener("abort", () => { resolve(); }, { once: true }); });
    this.#stop();
  }

  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    const interests = this.#wanted.get(typeUrl) ?? new Map<string, Interest>();
    this.#wanted.set(typeUrl, interests);
    for (const interest of dropped) interests.delete(interestKey(interest, interest.name));
    for (const interest of added) interests.set(interestKey(interest, interest.name), interest);
    this.#end?.feed.want(typeUrl, added, dropped);
    if (added.length > 0) this.#chain.fallBack();
  }

  nodeChanged(): void {
    this.#end?.feed.nodeChanged();
  }

  use(): void {
    this.#inUse = true;
    this.failure = undefined;
    this.#start();
  }

  leave(): void {
    this.#inUse = false;
    this.failure = undefined;
    this.#stop();
    this.#sink?.unavailable({}, undefined); // what it has said of single names too
  }

  tell(error: XdsError | undefined): void {
    if (error === this.#told) return;
    this.#told = error;
    this.#sink?.unavailable({}, error);
  }

  #start(): void {
    const sink = this.#sink;
    if (sink === undefined || this.#end !== undefined || this.#signal?.aborted === true) return;
    this.#end = this.#server.open();
    this.#abort = new AbortController();
    void this.#end.feed.run(this.#chain.taking.over(this.#watched(sink)), this.#abort.signal);
    for (const [typeUrl, interests] of this.#wanted) if (interests.size > 0) this.#end.feed.want(typeUrl, [...interests.values()], []);
  }

  #stop(): void {
    this.#abort.abort();
    this.#end?.close();
    this.#end = undefined;
  }

  /** Sees what comes, and that nothing comes. The versions of a server are its own (C-RECON-3); that there is something of a name, whoever gave it. */
  #watched(sink: ResourceSink): ResourceSink {
    const { cache } = this.#chain;
    return {
      held: (typeUrl, interest) => (interest === undefined ? sink.held(typeUrl) : cache.held(typeUrl, interest)),
      commit: (transaction) => {
        if (!this.#counts()) return { revision: cache.revision };
        const committed = sink.commit(transaction);
        if (isNews(transaction)) this.#chain.onNews(this.#index);
        if (this.#chain.links.length > 1 && this.#chain.isInUse(this.#index)) this.#dropOrphans(sink, transaction);
        return committed;
      },
      unavailable: (scope, error) => { this.#unavailable(sink, scope, error); },
    };
  }

  /** What is concluded from the silence of a server that has come back ends no other one's use. */
  #counts(): boolean {
    return this.#chain.isInUse(this.#index) || this.status?.responded === true;
  }

  #dropOrphans(sink: ResourceSink, { complete = [], settled = [] }: Transaction): void {
    const remove = [...complete, ...settled].flatMap((collection) => orphansOf(collection, this.#chain.cache, sink));
    if (remove.length > 0) void sink.commit({ remove });
  }

  #unavailable(sink: ResourceSink, scope: Scope, error: XdsError | undefined): void {
    if (scope.typeUrl !== undefined || scope.interest !== undefined || scope.authority !== undefined) { sink.unavailable(scope, error); return; }
    this.failure = error;
    if (error !== undefined) { this.#chain.onFailure(); return; }
    sink.unavailable({}, undefined);
    this.#chain.onAnswer();
  }
}

function isNews({ put = [], remove = [], complete = [] }: Transaction): boolean {
  return put.length + remove.length + complete.length > 0;
}
