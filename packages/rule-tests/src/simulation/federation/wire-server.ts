import { create, toBinary } from "@bufbuild/protobuf";
import { createCache, type Cache } from "@xdstp/cache";
import { forwardSink, type Put, type ResourceSink, type ResourceType } from "@xdstp/core";
import { type ClientFeed, createClientContext } from "@xdstp/protocol/client";
import { createScheduler, createServerContext, type ServerStream } from "@xdstp/protocol/server";
import type { OpenServer } from "@xdstp/federation";
import { NodeSchema } from "@xdstp/protos/discovery";
import type { Connection, Network } from "@xdstp/testing";
import { createDeltaClient } from "@xdstp/transport-delta/client";
import { createDeltaServer } from "@xdstp/transport-delta/server";
import { createSotwClient } from "@xdstp/transport-sotw/client";
import { createSotwServer } from "@xdstp/transport-sotw/server";

import type { Change } from "../../../../federation/test/model/deeds.ts";
import { LIST, payloadOf, THING, type Content } from "../../../../federation/test/model/names.ts";
import type { Stored, Supply, SupplyHost } from "../../../../federation/test/model/supply.ts";
import type { FederationDefect } from "./defects.ts";

/** The options of a server on the wire. */
export interface WireServerOptions extends SupplyHost {
  readonly network: Network;
  readonly defect: FederationDefect;
}

/** SotW can tell of removals only where each response is all there is. */
const types: readonly ResourceType[] = [
  { typeUrl: THING, fullStateInSotw: true, nameField: 0 },
  { typeUrl: LIST, fullStateInSotw: true, nameField: 0 },
];

/** Redirects come in SotW only in the wrapper (C-REDIR-1). */
const WRAPPED = "xds.config.supports-resource-in-sotw";

/** Longer than any history. */
const SILENCE = 100_000_000;

/** A server of ours, and the client end of ours towards it, at either end of a network. Its store outlives it. */
export class WireServer implements Supply {
  readonly id: string;
  readonly name: string;
  readonly store = new Map<string, Stored>();
  readonly isSilentOfMissing: boolean;
  readonly #options: WireServerOptions;
  readonly #variant: "delta" | "sotw";
  readonly #lateIsTransient: boolean;
  readonly #versions = new Map<string, number>();
  /** Every content that it has had, by its bytes. */
  readonly #contents = new Map<string, Content>();
  #listener: { close(): void } | undefined;
  #streams = new Map<Connection, ServerStream>();
  #cache: Cache;
  #feed: ClientFeed | undefined;
  #isSilent = false;

  constructor(id: string, options: WireServerOptions) {
    const { random } = options;
    this.id = this.name = id;
    this.#options = options;
    this.#variant = random.once(3) ? "sotw" : "delta";
    this.#lateIsTransient = this.#variant === "delta" && random.once(3);
    this.isSilentOfMissing = this.#variant === "sotw";
    this.#cache = this.#run();
  }

  get isOpen(): boolean {
    return this.#feed !== undefined;
  }

  /** As its client knows it; and one more where the server itself knows of others. */
  get wanted(): readonly string[] {
    const wanted = (this.#feed?.status().types ?? [])
      .flatMap(({ typeUrl, wants }) => wants.map(({ interest: { name } }) => `${typeUrl} ${name}`))
      .sort();
    const { topics } = this.#cache.counters;
    return topics === wanted.length ? wanted : [...wanted, `(${topics} things, as it knows)`];
  }

  put(changes: readonly Change[]): void {
    for (const { typeUrl, name, content } of changes) {
      const key = `${typeUrl} ${name}`;
      const version = (this.#versions.get(key) ?? 0) + 1;
      this.#versions.set(key, version);
      if (content === undefined) {
        this.store.delete(key);
        continue;
      }
      this.store.set(key, { typeUrl, name, content, version: String(version) });
      this.#contents.set(bytesOf(payloadOf(typeUrl, content).value), content);
    }
    if (this.#listener === undefined) return;
    const there = changes.flatMap(
      ({ typeUrl, name }) => this.store.get(`${typeUrl} ${name}`) ?? [],
    );
    const gone = changes
      .filter(({ content }) => content === undefined)
      .map(({ typeUrl, name }) => ({ typeUrl, name }));
    this.#cache.commit({ put: there.map(putOf), remove: gone });
  }

  turn(state: "up" | "down" | "silent"): void {
    this.#isSilent = state === "silent";
    if (state === "down") this.#stop(this.#options.random.once(2));
    else if (this.#listener === undefined) this.#cache = this.#run();
    for (const connection of this.#connections()) connection.stall(this.#isSilent ? SILENCE : 0);
  }

  cut(): void {
    for (const connection of this.#connections())
      connection.cut(this.#options.random.pick(["both", "client", "server", "neither"] as const));
  }

  end(): void {
    this.#stop(true);
  }

  open(): OpenServer {
    const { defect } = this.#options;
    const feed = (this.#feed = this.#clientEnd());
    return {
      feed: {
        run: async (sink, signal) => {
          await feed.run(this.#overheard(defect.sink?.(sink) ?? sink), signal);
          if (this.#feed === feed) this.#feed = undefined;
        },
        want: (typeUrl, added, dropped) => {
          feed.want(typeUrl, added, defect.dropped?.(dropped) ?? dropped);
        },
        get responded() {
          return feed.responded;
        },
        status: () => feed.status(),
      },
      close() {
        /* the network keeps no channels */
      },
    };
  }

  #clientEnd(): ClientFeed {
    const { clock, random, network } = this.#options;
    const context = createClientContext({
      connect: (handler) => network.connect(this.id, handler),
      node: toBinary(NodeSchema, create(NodeSchema, { id: "a client", clientFeatures: [WRAPPED] })),
      clock,
      random: () => random.next(),
      later: (callback) => {
        clock.after(0, callback);
      },
      descriptor: (typeUrl) => types.find((type) => type.typeUrl === typeUrl),
      backoff: { maxMs: 5_000 },
      timeoutIsTransient: this.#lateIsTransient,
    });
    return this.#variant === "delta" ? createDeltaClient(context) : createSotwClient(context);
  }

  /** Notes each transaction before it arrives at the sink. */
  #overheard(sink: ResourceSink): ResourceSink {
    const { onTold } = this.#options;
    return forwardSink(sink, () => ({
      commit: (transaction) => {
        for (const {
          typeUrl,
          resource: { name, payload },
        } of transaction.put ?? [])
          onTold(typeUrl, name, this.#contents.get(bytesOf(payload.value)));
        for (const { typeUrl, name, error } of transaction.remove ?? []) {
          // A resource that one federation waits for in vain may still exist for another.
          const isSilence = error?.context.reason === "late";
          if (
            !isSilence ||
            !Array.from(sink.held(typeUrl, { name })).some(({ standIn }) => standIn === undefined)
          )
            onTold(typeUrl, name, undefined);
        }
        return sink.commit(transaction);
      },
    }));
  }

  #connections(): readonly Connection[] {
    return this.#options.network.connections.filter(({ address }) => address === this.id);
  }

  #run(): Cache {
    const { clock, network } = this.#options;
    const cache = createCache({ types, clock });
    cache.commit({ put: [...this.store.values()].map(putOf) });
    const later = (callback: () => void): void => {
      clock.after(1, callback);
    };
    const context = createServerContext({
      source: cache,
      clock,
      scheduler: createScheduler({ slice: 4, later }),
    });
    const end = this.#variant === "delta" ? createDeltaServer(context) : createSotwServer(context);
    const streams = (this.#streams = new Map<Connection, ServerStream>());
    this.#listener = network.listen(this.id, (out, connection) => {
      if (this.#isSilent) connection.stall(SILENCE);
      const stream = end.open({ peer: `connection ${connection.id}` }, out);
      streams.set(connection, stream);
      return {
        onMessage: (message) => {
          stream.onMessage(message);
        },
        onDrained: () => {
          stream.onDrained();
        },
        onClosed: (status) => {
          streams.delete(connection);
          stream.onClosed(status);
        },
      };
    });
    return cache;
  }

  /** Stops the process. A crash notifies the clients only, whose machine sees it. */
  #stop(crash: boolean): void {
    this.#listener?.close();
    this.#listener = undefined;
    for (const [connection, stream] of [...this.#streams]) {
      if (crash) connection.cut("both");
      else stream.end(14, "the server stops");
    }
    void this.#cache.close();
  }
}

/** Versions are those of the server, so that the same one means something else elsewhere. */
function putOf({ typeUrl, name, content, version }: Stored): Put {
  return { typeUrl, resource: { name, version, payload: payloadOf(typeUrl, content) } };
}

function bytesOf(value: Uint8Array): string {
  return Buffer.from(value).toString("latin1");
}
