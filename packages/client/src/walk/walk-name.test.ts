import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";

import { createCache, type RawResource } from "@xdstp/cache";
import { systemClock } from "@xdstp/core";
import type { Cluster } from "@xdstp/protos/envoy/cluster";
import { ListenerSchema, type Listener } from "@xdstp/protos/envoy/listener";
import { envoyTypes } from "@xdstp/resource-types";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, expectTypeOf, it } from "vitest";

import {
  cluster,
  clusterUrl,
  endpoints,
  endpointsUrl,
  listener,
  listenerUrl,
  routes,
} from "../../test/envoy-resources.ts";
import { parts as types } from "../../test/envoy-parts.ts";
import { useClient, useOrigin, type Origin } from "../../test/use-origin.ts";
import {
  parseBootstrap,
  type Configuration,
  type Member,
  type PartTypes,
  type Walk,
} from "../index.ts";
import { createHub } from "../hub.ts";
import { createTaking } from "../taking.ts";
import { walkName } from "./walk-name.ts";

type Given = Configuration<unknown, PartTypes>;

function put({ cache }: Origin, ...resources: readonly RawResource[]): void {
  cache.transaction((writer) => {
    for (const resource of resources) writer.put(resource);
  });
}

/** Resolves when a name was requested from the server. */
async function asked({ server }: Origin, name: string, typeUrl = clusterUrl): Promise<void> {
  await new Promise<void>((resolve) => {
    server.events((event) => {
      if (event.kind === "subscribe" && event.typeUrl === typeUrl && event.added.includes(name))
        resolve();
    });
  });
}

/** Returns the next configuration for which `holds` returns true. */
async function until<R, P extends PartTypes>(
  updates: AsyncIterator<Configuration<R, P>, undefined>,
  holds: (given: Configuration<R, P>) => boolean,
): Promise<Configuration<R, P>> {
  for (;;) {
    const { value } = await updates.next();
    if (value === undefined) throw new Error("the walk has ended");
    if (holds(value)) return value;
  }
}

const plain = (server_uri: string) => ({ server_uri, channel_creds: [{ type: "insecure" }] });
const namesOf = ({ resources }: Given): readonly string[] =>
  [...resources.values()].flatMap((named) => [...named.keys()]);

describe.each(["delta", "sotw"] as const)("a walk of a %s client", (variant) => {
  it("gives a configuration when it is whole, and each newer one when that is [C-ORD-7] [C-GRPC-13]", async () => {
    const origin = await useOrigin();
    put(
      origin,
      listener("l", "r"),
      routes("r", "a"),
      cluster("a", { service: "s" }),
      endpoints("s"),
    );
    const { client } = useClient([origin.uri], { variant });
    const walk = client.walk(ListenerSchema, "l", { types });
    const updates = walk[Symbol.asyncIterator]();
    const first = await until(updates, () => true);
    expect([
      namesOf(first),
      first.root?.name,
      [...first.parts.clusters.keys()],
      first.missing,
      first.pending,
      first.error,
    ]).toEqual([["l", "r", "a", "s"], "l", ["a"], [], [], undefined]);
    expectTypeOf(first.root).toEqualTypeOf<Member<Listener> | undefined>();
    expectTypeOf(first.parts.clusters).toEqualTypeOf<ReadonlyMap<string, Member<Cluster>>>();
    expectTypeOf<keyof typeof first.parts>().toEqualTypeOf<"routes" | "clusters" | "endpoints">();
    expect(first.parts.clusters.get("a")?.value.connectTimeout?.seconds).toBe(1n);
    put(origin, routes("r", "b"), cluster("b"), endpoints("b", 2));
    expect(namesOf(await until(updates, () => true))).toEqual(["l", "r", "b", "b"]);
    put(origin, endpoints("b", 3));
    const third = await until(updates, () => true);
    const [endpoint] = third.parts.endpoints.get("b")?.value.endpoints[0]?.lbEndpoints ?? [];
    expect(endpoint?.hostIdentifier.value).toMatchObject({
      address: { address: { value: { portSpecifier: { value: 3 } } } },
    });
  });

  it("keeps what is in force while a part of the next is missing, and says what it waits for [C-ORD-7]", async () => {
    const origin = await useOrigin();
    put(origin, listener("l", "r"), routes("r", "a"), cluster("a"), endpoints("a"));
    const clock = createFakeClock();
    const { client } = useClient([origin.uri], { variant, clock, fetchMs: 300 });
    const walk = client.walk(ListenerSchema, "l", { types });
    const updates = walk[Symbol.asyncIterator]();
    await updates.next();
    put(origin, routes("r", "a", "b"));
    await asked(origin, "b");
    clock.advance(300);
    const held = await until(updates, ({ error }) => error !== undefined);
    expect([
      namesOf(held),
      held.error?.code,
      held.pending.map(({ name, from }) => [name, from?.name]),
    ]).toEqual([["l", "r", "a", "a"], "NOT_FOUND", [["b", "r"]]]);
    expect(held.error?.message).toContain('(node "me")');
    put(origin, cluster("b"), endpoints("b"));
    const whole = await until(updates, ({ pending }) => pending.length === 0);
    expect([namesOf(whole), whole.error]).toEqual([["l", "r", "a", "b", "a", "b"], undefined]);
  });

  it("says that there is no root, and follows it when it appears [C-GRPC-17]", async () => {
    const origin = await useOrigin();
    const { client } = useClient([origin.uri], { variant, fetchMs: 300 });
    const updates = client.walk(ListenerSchema, "l", { types })[Symbol.asyncIterator]();
    const none = await until(updates, () => true);
    expect([none.root, none.error?.code, none.pending.map(({ name }) => name)]).toEqual([
      undefined,
      "NOT_FOUND",
      ["l"],
    ]);
    put(origin, listener("l", "r"), routes("r", "a"), cluster("a"), endpoints("a"));
    expect(namesOf(await until(updates, ({ root: found }) => found !== undefined))).toEqual([
      "l",
      "r",
      "a",
      "a",
    ]);
  });

  it("rejects a part that cannot be decoded, and keeps the one before", async () => {
    const origin = await useOrigin();
    put(origin, listener("l", "r"), routes("r", "a"), cluster("a"), endpoints("a"));
    const { client, events } = useClient([origin.uri], { variant });
    const updates = client.walk(ListenerSchema, "l", { types })[Symbol.asyncIterator]();
    await updates.next();
    put(origin, {
      typeUrl: clusterUrl,
      name: "a",
      value: Uint8Array.of(0x0a, 1, 0x61, 0x1a, 2, 0x12, 9),
    });
    const rejected = await until(updates, ({ error }) => error !== undefined);
    expect([
      namesOf(rejected),
      rejected.error?.code,
      rejected.parts.clusters.get("a")?.value,
    ]).toMatchObject([["l", "r", "a", "a"], "INVALID_ARGUMENT", { name: "a" }]);
    expect(events.some(({ kind }) => kind === "rejected")).toBe(true);
  });
});

describe("a reader of a walk", () => {
  it("holds the streams while there is something new that it has not taken, and not while parts of it are on their way [C-ACK-13]", async () => {
    const cache = createCache({ types: envoyTypes });
    cache.addFeed({ run: () => new Promise(() => undefined), want: () => undefined });
    const taking = createTaking();
    const hub = createHub({ cache, taking, nodeId: "me", interestOf: (_, name) => ({ name }) });
    const sink = taking.over(cache);
    const walk = walkName(hub, systemClock, ListenerSchema, "l", { types });
    const updates = walk[Symbol.asyncIterator]();
    const commit = ({ typeUrl, name, value }: RawResource): Promise<void> | undefined => {
      const { taken } = sink.commit({
        put: [{ typeUrl, resource: { name, version: "", payload: { typeUrl, value } } }],
      });
      return taken;
    };
    const first = updates.next();
    for (const part of [listener("l", "r"), routes("r", "a"), cluster("a"), endpoints("a")])
      await commit(part);
    await first;
    const newer = commit(endpoints("a", 2));
    await Promise.race([newer, setImmediate()]);
    const state = { taken: false };
    void newer?.then(() => {
      state.taken = true;
    });
    await setImmediate();
    expect([newer !== undefined, state.taken]).toEqual([true, false]);
    await updates.next();
    await newer;
    await commit(routes("r", "b"));
    walk.close();
  });
});

describe("a walk", () => {
  const start = async (options: Parameters<typeof useClient>[1] = {}) => {
    const origin = await useOrigin();
    put(origin, listener("l", "r"), routes("r", "a"), cluster("a"), endpoints("a"));
    return { origin, ...useClient([origin.uri], options) };
  };

  it("follows all types that payloads refer to, where none are chosen, and gives their payloads", async () => {
    const { client } = await start();
    const given = await until(client.walk(ListenerSchema, "l")[Symbol.asyncIterator](), () => true);
    expect([namesOf(given), given.parts, given.resources.get(clusterUrl)?.get("a")?.value]).toEqual(
      [["l", "r", "a", "a"], {}, expect.any(Uint8Array)],
    );
  });

  it("leaves out what is to be skipped", async () => {
    const { client } = await start();
    const given = await until(
      client
        .walk(ListenerSchema, "l", {
          skip: (typeUrl, name) => typeUrl === clusterUrl && name === "a",
        })
        [Symbol.asyncIterator](),
      () => true,
    );
    expect(namesOf(given)).toEqual(["l", "r"]);
  });

  it("shows what it waits for before there is anything", async () => {
    const { client, origin } = await start({ variant: "sotw" });
    origin.cache.remove(endpointsUrl, "a");
    const walk = client.walk(ListenerSchema, "l", { types });
    await expect
      .poll(() => walk.pending)
      .toEqual([
        {
          typeUrl: endpointsUrl,
          name: "a",
          from: { typeUrl: clusterUrl, name: "a" },
          answered: false,
        },
      ]);
  });

  it("goes on without what is late, where it may, and says what that is [C-WARM-3]", async () => {
    const clock = createFakeClock();
    const { client, origin } = await start({ clock });
    origin.cache.remove(endpointsUrl, "a");
    const updates = client
      .walk(ListenerSchema, "l", { types, initialFetchMs: 200 })
      [Symbol.asyncIterator]();
    await asked(origin, "a", endpointsUrl);
    clock.advance(200);
    const given = await until(updates, () => true);
    expect([namesOf(given), given.missing.map(({ name }) => name)]).toEqual([
      ["l", "r", "a"],
      ["a"],
    ]);
  });

  it("ends with its client, its signal, its loop and itself", async () => {
    const { client } = await start();
    const abort = new AbortController();
    const ends = async (walk: Walk<unknown, PartTypes>, end: () => unknown): Promise<unknown> => {
      const updates = walk[Symbol.asyncIterator]();
      await updates.next();
      const last = updates.next();
      await end();
      return last.then(
        ({ done }) => done,
        (error: unknown) => String(error),
      );
    };
    const aborted = client.walk(ListenerSchema, "l", { types, signal: abort.signal });
    expect(
      await ends(aborted, () => {
        abort.abort("enough");
      }),
    ).toBe("enough");
    const closed = client.walk(ListenerSchema, "l", { types });
    expect(
      await ends(closed, () => {
        closed.close();
      }),
    ).toBe(true);
    const disposed = client.walk(ListenerSchema, "l", { types });
    expect(await ends(disposed, () => disposed[Symbol.asyncDispose]())).toBe(true);
    const last = client.walk(ListenerSchema, "l", { types });
    for await (const { root: found } of client.walk(ListenerSchema, "l"))
      if (found !== undefined) break;
    expect(await ends(last, () => client.close())).toBe(true);
  });

  it("lets go of a signal that lives longer, whatever ends it", async () => {
    const { client } = await start();
    const { signal } = new AbortController();
    const options = { types, signal };
    const [closed, last] = [
      client.walk(ListenerSchema, "l", options),
      client.walk(ListenerSchema, "l", options),
    ];
    expect(getEventListeners(signal, "abort")).toHaveLength(2);
    closed.close();
    for await (const { root: found } of last) if (found !== undefined) break;
    expect(getEventListeners(signal, "abort")).toEqual([]);
    client.walk(ListenerSchema, "l", options);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await client.close();
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it.each([
    ["", "a name is empty"],
    ["*", "is not a name, but all of a type"],
    ["xdstp://a/envoy.config.listener.v3.Listener/*", "is a glob collection"],
    [
      "xdstp://a/envoy.config.cluster.v3.Cluster/x",
      "it has to be envoy.config.listener.v3.Listener",
    ],
  ])("throws where its root, %s, cannot be asked for", async (name, message) => {
    const { client } = await start();
    expect(() => client.walk(ListenerSchema, name)).toThrow(message);
  });

  it("asks for a name of another authority there, and says why it cannot be had [C-AUTH-1]", async () => {
    const { client, origin } = await start();
    const name = "xdstp://other/envoy.config.cluster.v3.Cluster/x";
    const bootstrap = parseBootstrap({
      xds_servers: [plain(origin.uri)],
      node: { id: "me" },
      authorities: { other: { xds_servers: [plain("127.0.0.1:1")] } },
    });
    const { client: federated } = useClient([origin.uri], { bootstrap });
    put(origin, routes("r", "a", name));
    const { pending, root } = await until(
      federated.walk(ListenerSchema, "l", { types })[Symbol.asyncIterator](),
      () => true,
    );
    const [foreign] = pending.filter((gap) => gap.name === name);
    expect([root, foreign?.error?.code, foreign?.error?.text]).toEqual([
      undefined,
      "UNAVAILABLE",
      expect.stringContaining("127.0.0.1:1"),
    ]);
    await client.close();
  });

  it.each([
    { features: ["xds_v3"], what: "keeps the configuration of a root that is deleted", holds: "l" },
    {
      features: ["xds_v3", "fail_on_data_errors"],
      what: "ends the configuration of a root that is deleted, where the server is to be believed",
      holds: undefined,
    },
  ])("$what [C-GRPC-9] [C-GRPC-17]", async ({ features, holds }) => {
    const { origin } = await start();
    const bootstrap = parseBootstrap({
      xds_servers: [{ ...plain(origin.uri), server_features: features }],
      node: { id: "me" },
    });
    const updates = useClient([origin.uri], { bootstrap })
      .client.walk(ListenerSchema, "l", { types })
      [Symbol.asyncIterator]();
    await updates.next();
    origin.cache.remove(listenerUrl, "l");
    const { root, error, resources } = await until(updates, () => true);
    expect([root?.name, error?.code, resources.size]).toEqual([
      holds,
      "NOT_FOUND",
      holds === undefined ? 0 : 4,
    ]);
    put(origin, listener("l", "r"));
    expect((await until(updates, ({ error: now }) => now === undefined)).root?.name).toBe("l");
  });
});
