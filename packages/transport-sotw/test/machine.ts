import { create, fromBinary } from "@bufbuild/protobuf";
import { createCache, type Cache, type PutOptions } from "@xdstp/cache";
import type { NodeInfo, ResourceType } from "@xdstp/core";
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
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import { createFakeClock, createManualScheduler, type FakeClock } from "@xdstp/testing";
import type { SotwRequest } from "../src/server/decode-request.ts";
import { createSotwVariant } from "../src/server/sotw-variant.ts";
import { createProfileOf } from "../src/server/profile-of.ts";
import { TYPE } from "../../cache/test/kept-entries.ts";

/**
 * A response with its resources unwrapped. Resources of a type with a name field have only their
 * text, since they are not wrapped.
 */
export interface Sent {
  readonly version: string;
  readonly nonce: string;
  readonly names: readonly string[];
  readonly versions: readonly string[];
  readonly texts: readonly string[];
  /** True for each resource with a body; heartbeats have none. */
  readonly bodies: readonly boolean[];
  readonly errors: readonly string[];
}

/** The options of {@link useMachine}. */
export interface UseMachine {
  /** Further fields of the descriptor of {@link TYPE}. */
  readonly type?: Partial<ResourceType>;
  readonly limits?: Partial<StreamLimits>;
  /** Adds a feed that never commits, so that only what was put is settled. */
  readonly feed?: boolean;
  /** The other types of its stream. Default: none. */
  readonly siblings?: Readonly<Record<string, Partial<TypeMachine<never>>>>;
}

/** One type on one stream, without the stream: the test drains what is sent. */
export interface UsedMachine {
  readonly cache: Cache;
  readonly clock: FakeClock;
  readonly context: ServerContext;
  readonly machine: TypeMachine<SotwRequest>;
  readonly events: readonly StreamEvent[];
  /** The calls to its stream, in order. */
  readonly asked: string[];
  /** Advances the time, and runs what is due. */
  pass(ms: number): void;
  put(name: string, options?: PutOptions & { readonly text?: string }): void;
  remove(name: string): void;
  /** Handles a request; fields that are not given are empty, except the names, which stay. */
  request(request: Partial<SotwRequest>): void;
  /** Sends what is pending, and accepts it. */
  settle(): readonly Sent[];
  /** Drains, and returns what was sent. */
  drain(removeUpTo?: number): readonly Sent[];
  /** Returns what was sent and not read yet. */
  sent(): readonly Sent[];
  ack(more?: Partial<SotwRequest>): void;
  nack(more?: Partial<SotwRequest>): void;
}

const node: NodeInfo = {
  id: "n",
  cluster: "",
  userAgentName: "",
  userAgentVersion: "",
  locality: "",
  clientFeatures: ["xds.config.supports-resource-ttl", "xds.config.supports-resource-in-sotw"],
};

/** Creates a type on the stream of a client that supports TTLs. */
export function useMachine({
  type = {},
  limits = {},
  siblings = {},
  feed = false,
}: UseMachine = {}): UsedMachine {
  const clock = createFakeClock();
  const turns = createManualScheduler();
  const cache = createCache({ types: [{ typeUrl: TYPE, nameField: 0, ...type }], clock });
  if (feed) cache.addFeed({ run: () => new Promise(() => undefined), want: () => undefined });
  else cache.commit({});
  const events: StreamEvent[] = [];
  const context = createServerContext({
    source: cache,
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
    node,
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
  const machine = createServedType(createSotwVariant(createProfileOf(context)), {
    context,
    host,
    typeUrl: TYPE,
    stream: { id: 1, variant: "sotw", peer: "p", node },
  });
  const sent = (): readonly Sent[] => frames.splice(0).map((bytes) => read(bytes));
  const drain = (removeUpTo = Infinity): readonly Sent[] => {
    machine.drain(removeUpTo);
    return sent();
  };
  let names: readonly string[] = [];
  const request = (more: Partial<SotwRequest>): void => {
    names = more.names ?? names;
    machine.request({
      node: undefined,
      typeUrl: TYPE,
      nonce: "",
      error: undefined,
      names,
      located: [],
      version: "",
      usesLocators: false,
      ...more,
    });
  };
  const ack = (more?: Partial<SotwRequest>): void => {
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
    put(name, { text = "", ...options } = {}) {
      cache.put({ typeUrl: TYPE, name, value: Buffer.from(text), ...options });
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

function read(bytes: Uint8Array): Sent {
  const { versionInfo, nonce, resources, resourceErrors } = fromBinary(
    DiscoveryResponseSchema,
    bytes,
  );
  const all = resources.map((any) =>
    any.typeUrl === TYPE
      ? create(ResourceSchema, { resource: any })
      : fromBinary(ResourceSchema, any.value),
  );
  return {
    version: versionInfo,
    nonce,
    names: all.map(({ name }) => name),
    versions: all.map((resource) => resource.version),
    texts: all.map(({ resource }) => Buffer.from(resource?.value ?? []).toString()),
    bodies: all.map(({ resource }) => resource !== undefined),
    errors: resourceErrors.map(({ resourceName }) => resourceName?.name ?? ""),
  };
}
