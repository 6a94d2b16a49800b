import { fromBinary } from "@bufbuild/protobuf";
import { createCache, type Cache, type CacheOptions, type PutOptions } from "@xdstp/cache";
import type { ResourceSource, ResourceType } from "@xdstp/core";
import {
  createScheduler,
  createServedType,
  createServerContext,
  type ServerContext,
  type StreamEvent,
  type StreamLimits,
  type TypeHost,
  type TypeMachine,
} from "@xdstp/protocol/server";
import { DeltaDiscoveryResponseSchema, type DeltaDiscoveryResponse } from "@xdstp/protos/discovery";
import { createFakeClock, createManualScheduler, type FakeClock } from "@xdstp/testing";
import type { DeltaRequest } from "../src/server/decode-request.ts";
import { createDeltaVariant } from "../src/server/delta-variant.ts";
import { createProfileOf } from "../src/server/profile-of.ts";
import { TYPE } from "../../cache/test/kept-entries.ts";

/** The options of {@link useMachine}. */
export interface UseMachine {
  /** Further fields of the descriptor of {@link TYPE}. */
  readonly type?: Partial<ResourceType>;
  readonly limits?: Partial<StreamLimits>;
  readonly cache?: Omit<CacheOptions, "types" | "clock">;
  /** Returns a source over the cache. Default: the cache itself. */
  readonly over?: (cache: Cache) => ResourceSource;
  /** The other types of its stream. Default: none. */
  readonly siblings?: Readonly<Record<string, Partial<TypeMachine<never>>>>;
}

/** One type on one stream, without the stream: the test drains what is sent. */
export interface UsedMachine {
  readonly cache: Cache;
  readonly clock: FakeClock;
  readonly context: ServerContext;
  readonly machine: TypeMachine<DeltaRequest>;
  readonly events: readonly StreamEvent[];
  /** The calls to its stream, in order. */
  readonly asked: string[];
  /** Advances the time, and runs what is due. */
  pass(ms: number): void;
  put(name: string, options?: PutOptions & { readonly text?: string }): void;
  remove(name: string): void;
  /** Handles a request; fields that are not given are empty. */
  request(request: Partial<DeltaRequest>): void;
  /** Sends what is pending, and accepts it. */
  settle(): readonly DeltaDiscoveryResponse[];
  /** Drains, and returns what was sent. */
  drain(removeUpTo?: number): readonly DeltaDiscoveryResponse[];
  /** Returns what was sent and not read yet. */
  sent(): readonly DeltaDiscoveryResponse[];
  ack(more?: Partial<DeltaRequest>): void;
  nack(more?: Partial<DeltaRequest>): void;
}

const takesTtl = { ttl: true, errors: false };

/** Creates a type on the stream of a client that supports TTLs. */
export function useMachine({
  type = {},
  limits = {},
  siblings = {},
  over = (cache) => cache,
  cache: options = {},
}: UseMachine = {}): UsedMachine {
  const clock = createFakeClock();
  const turns = createManualScheduler();
  const cache = createCache({ types: [{ typeUrl: TYPE, ...type }], clock, ...options });
  cache.commit({});
  const events: StreamEvent[] = [];
  const context = createServerContext({
    source: over(cache),
    clock,
    limits,
    scheduler: createScheduler({ later: turns.later }),
    onEvent: (event) => {
      events.push(event);
    },
  });
  const asked: string[] = [];
  const frames: Uint8Array[] = [];
  const host: TypeHost & { lastNonce: number } = {
    node: undefined,
    lastNonce: 0,
    canSend: true,
    sibling: (typeUrl) => siblings[typeUrl] as TypeMachine<never> | undefined,
    thaw() {
      asked.push("thaw");
    },
    schedule() {
      asked.push("schedule");
    },
    send(list) {
      frames.push(...list.map(({ bytes }) => bytes));
      this.lastNonce = list.at(-1)?.nonce ?? this.lastNonce;
    },
    end(code, message, limit) {
      asked.push(`end ${String(code)} ${message} ${String(limit)}`);
    },
  };
  const profileOf = createProfileOf(context);
  const machine = createServedType(
    createDeltaVariant(({ typeUrl }) => profileOf(typeUrl, takesTtl)),
    {
      context,
      host,
      typeUrl: TYPE,
      stream: { id: 1, variant: "delta", peer: "p", node: undefined },
    },
  );
  const sent = (): readonly DeltaDiscoveryResponse[] =>
    frames.splice(0).map((bytes) => fromBinary(DeltaDiscoveryResponseSchema, bytes));
  const drain = (removeUpTo = Infinity): readonly DeltaDiscoveryResponse[] => {
    machine.drain(removeUpTo);
    return sent();
  };
  const request = (more: Partial<DeltaRequest>): void => {
    machine.request({
      node: undefined,
      typeUrl: TYPE,
      nonce: "",
      error: undefined,
      subscribe: [],
      unsubscribe: [],
      locate: [],
      unlocate: [],
      initialVersions: new Map(),
      ...more,
    });
  };
  const ack = (more?: Partial<DeltaRequest>): void => {
    request({ nonce: String(host.lastNonce), ...more });
  };
  return {
    cache,
    clock,
    context,
    machine,
    events,
    asked,
    request,
    drain,
    sent,
    ack,
    pass(ms) {
      clock.advance(ms);
      turns.run();
    },
    put(name, { text = "", ...more } = {}) {
      cache.put({ typeUrl: TYPE, name, value: Buffer.from(text), ...more });
    },
    remove(name) {
      cache.remove(TYPE, name);
    },
    settle() {
      const all = drain();
      if (all.length > 0) ack();
      return all;
    },
    nack(more) {
      ack({ error: { code: 3, message: "bad" }, ...more });
    },
  };
}
