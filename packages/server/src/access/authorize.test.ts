import { createCache } from "@xdstp/cache";
import { forwardSource, type PeerIdentity, XdsError } from "@xdstp/core";
import { createPolicy, type Policy } from "@xdstp/policy";
import { createScheduler } from "@xdstp/protocol/server";
import { ConfigStatus } from "@xdstp/protos/status";
import { envoyTypes } from "@xdstp/resource-types";
import { createFakeClock, createManualScheduler, createMemoryStream } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { createClient, payload, type NodeInit, type TestClient } from "../../test/client.ts";
import {
  fetchPath,
  paths,
  readyCache,
  serve,
  types,
  variants,
  type Harness,
  type VariantName,
} from "../../test/harness.ts";
import { routeTo } from "../../test/route-to.ts";
import { createServer } from "../create-server.ts";
import type { Peer } from "./authorize.ts";

const everything: Policy = { key: "all", allows: () => true };
const peer = "192.0.2.1:5";

/** Creates a cache with these clusters. */
function clusters(...names: readonly string[]): ReturnType<typeof readyCache> {
  const cache = readyCache();
  for (const name of names) cache.put({ typeUrl: types.cluster, name, value: payload(name) });
  return cache;
}

/** Waits for the microtasks that answer requests of a waiting stream. */
async function decided(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function identityOf(uri: string): PeerIdentity {
  return { uris: [uri], dnsNames: [], subject: "", fingerprint: "" };
}

interface Held<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

function held<T>(): Held<T> {
  let settle: Pick<Held<T>, "resolve" | "reject"> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return {
    promise,
    resolve: (value) => {
      settle?.resolve(value);
    },
    reject: (error) => {
      settle?.reject(error);
    },
  };
}

describe.each(variants)("createServer({ authorize }) (%s)", (variant) => {
  it(`asks once per stream, when its first message is in, and says who calls (${variant}) [S-LIM-8] [S-NODE-8]`, async () => {
    const asked: Peer[] = [];
    const cache = clusters("a", "b");
    const { open, turn } = serve(cache, {
      authorize: (who) => {
        asked.push(who);
        return { key: "k", allows: (_, name) => name === "a" };
      },
    });
    const call = open(variant, { id: "n", cluster: "c" });
    await decided();
    expect(asked).toEqual([]);
    call.ask(types.cluster, ["*"]);
    await decided();
    turn();
    const response = call.next();
    expect(response.names).toEqual(["a"]);
    call.ack(response);
    cache.put({ typeUrl: types.cluster, name: "b", value: payload("b", "changed") });
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a", "changed") });
    turn();
    expect(call.next().names).toEqual(["a"]);
    expect(asked).toMatchObject([
      { address: peer, path: paths[variant], node: { id: "n", cluster: "c" } },
    ]);
  });

  it(`keeps what comes meanwhile, reads no more, and serves it in order (${variant})`, async () => {
    const answer = held<Policy>();
    const { open, turn, kinds } = serve(clusters("a", "b"), { authorize: () => answer.promise });
    const call = open(variant);
    call.ask(types.cluster, ["a"]);
    expect(call.paused).toBe(true);
    call.end();
    await decided();
    turn();
    expect([call.unread, kinds()]).toEqual([0, []]);
    answer.resolve(everything);
    await decided();
    turn();
    expect(call.next().names).toEqual(["a"]);
    expect(call.closed).toEqual({ code: 0, message: "" });
  });

  it.each([
    ["PERMISSION_DENIED", 7, "not allowed"],
    ["UNAUTHENTICATED", 16, "not authenticated"],
  ] as const)(
    `rejects with %s, and tells the operator why (${variant}) [S-LIM-8]`,
    async (code, number, message) => {
      const { open, events } = serve(clusters("a"), {
        authorize: () => {
          throw new XdsError(code, "no role for spiffe://td/x");
        },
      });
      const call = open(variant);
      call.ask(types.cluster, ["*"]);
      await decided();
      expect(call.closed).toEqual({ code: number, message });
      expect(events).toEqual([
        {
          kind: "rejected",
          path: paths[variant],
          peer,
          status: { code: number, message },
          reason: "no role for spiffe://td/x",
        },
      ]);
    },
  );

  it.each([
    [
      "throws",
      (): Policy => {
        throw new Error("secret of the database");
      },
      "secret of the database",
    ],
    ["rejects", (): Promise<Policy> => Promise.reject(new XdsError("INTERNAL", "down")), "down"],
    [
      "gives none",
      (): Policy => undefined as unknown as Policy,
      "authorize gave no policy: it has to have a key and a function allows",
    ],
  ] as const)(
    `rejects with UNAVAILABLE where the decision %s (${variant})`,
    async (_, authorize, reason) => {
      const { open, events } = serve(clusters("a"), { authorize });
      const call = open(variant);
      call.ask(types.cluster, ["*"]);
      await decided();
      const status = { code: 14, message: "access cannot be decided now" };
      expect(call.closed).toEqual(status);
      expect(events).toMatchObject([
        { kind: "fault", where: "authorize" },
        { kind: "rejected", status, reason },
      ]);
    },
  );

  it(`waits for a decision as long as the limit says, and not for one of a client that has gone (${variant})`, async () => {
    const signals: AbortSignal[] = [];
    const { open, events, clock } = serve(clusters("a"), {
      limits: { access: { authorizeMs: 50 } },
      authorize: (_, { signal }) => {
        signals.push(signal);
        return new Promise<Policy>(() => undefined);
      },
    });
    const [late, gone] = [open(variant), open(variant)];
    for (const call of [late, gone]) call.ask(types.cluster, ["*"]);
    gone.cancel();
    await decided();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    clock.advance(50);
    await decided();
    expect(late.closed).toEqual({ code: 14, message: "access cannot be decided now" });
    expect(events).toMatchObject([{ kind: "rejected", reason: "no decision within 50 ms" }]);
    expect(signals[0]?.aborted).toBe(true);
  });

  it(`ends streams whose policy is revoked, and opens no more (${variant})`, async () => {
    const policies = ["x", "y"].map(() => createPolicy({ key: "same", allows: () => true }));
    const { open, turn, server } = serve(clusters("a"), {
      authorize: ({ node }) => policies[Number(node?.id)] ?? everything,
    });
    const [first, second] = ["0", "1"].map((id) => open(variant, { id }));
    for (const call of [first, second]) call?.ask(types.cluster, ["*"]);
    await decided();
    turn();
    policies[0]?.revoke();
    expect(first?.closed).toEqual({ code: 7, message: "access was revoked" });
    expect(second?.closed).toBeUndefined();
    expect(server.status()).toHaveLength(1);
    const again = open(variant, { id: "0" });
    again.ask(types.cluster, ["*"]);
    await decided();
    expect(again.closed).toEqual({ code: 7, message: "access was revoked" });
  });

  it(`drops the view of a key with its last stream (${variant}) [S-STREAM-10]`, async () => {
    const cache = clusters("a");
    let watching = 0;
    const policy: Policy = {
      ...everything,
      watch: () => {
        watching++;
        return () => {
          watching--;
        };
      },
    };
    const { open, turn } = serve(cache, { authorize: () => policy });
    const calls = [open(variant), open(variant)];
    for (const call of calls) call.ask(types.cluster, ["*", "a"]);
    await decided();
    turn();
    expect([watching, cache.counters.topics]).toEqual([1, 2]);
    calls[0]?.cancel();
    expect(watching).toBe(1);
    calls[1]?.cancel();
    expect([watching, cache.counters.topics]).toEqual([0, 0]);
  });

  it(`encodes once for all streams whose policies have equal keys (${variant})`, async () => {
    const cache = clusters("a", "b");
    const { open, turn, server } = serve(cache, {
      authorize: ({ node }) => ({
        key: node?.id === "z" ? "z" : "k",
        allows: (_, name) => node?.id === "z" || name !== "b",
      }),
    });
    const calls = Array.from({ length: 5 }, (_, index) => open(variant, { id: String(index) }));
    for (const call of calls) call.ask(types.cluster, ["*"]);
    await decided();
    turn();
    expect(server.stats().frames).toEqual({ encoded: 1, shared: 4, restamped: 0 });
    for (const call of calls) call.ack(call.next());
    const other = open(variant, { id: "z" });
    other.ask(types.cluster, ["*"]);
    await decided();
    turn();
    other.ack(other.next());
    expect(server.stats().frames.encoded).toBe(2);
    cache.put({ typeUrl: types.cluster, name: "b", value: payload("b", "changed") });
    turn();
    expect(server.stats().frames.encoded).toBe(3);
    expect(calls.map(({ unread }) => unread)).toEqual([0, 0, 0, 0, 0]);
  });

  it(`serves each client from the source that is chosen for it, once that is ready (${variant})`, async () => {
    const [mine, fresh] = [clusters("mine"), createCache({ types: envoyTypes })];
    const { open, turn, server } = serve(clusters("shared"), {
      sourceFor: ({ node }) =>
        node?.id === "own" ? mine : node?.id === "fresh" ? fresh : undefined,
    });
    const [own, other, early] = ["own", "other", "fresh"].map((id) => open(variant, { id }));
    for (const call of [own, other, early]) call?.ask(types.cluster, ["*"]);
    await decided();
    turn();
    expect([own?.next().names, other?.next().names]).toEqual([["mine"], ["shared"]]);
    expect(early?.closed).toEqual({
      code: 14,
      message: "the first complete state is not loaded yet",
    });
    const { revision } = mine.put({
      typeUrl: types.cluster,
      name: "mine",
      value: payload("mine", "changed"),
    });
    expect(revision).toBeGreaterThan(1);
    expect(await server.waitForAck(0, { nodes: ({ id }) => id === "own" })).toMatchObject({
      noSubscribers: true,
    });
  });

  it(`looks at the clients of a source and of its views as one: they share frames, client status and waits (${variant})`, async () => {
    const cache = clusters("a");
    const views = new Map(
      ["v1", "v2"].map((id) => [id, forwardSource(cache, { viewOf: cache })] as const),
    );
    const { open, turn, server } = serve(cache, {
      sourceFor: ({ node }) => views.get(node?.id ?? ""),
    });
    const calls = ["v1", "v2", "plain"].map((id) => open(variant, { id }));
    for (const call of calls) call.ask(types.cluster, ["*"]);
    await decided();
    turn();
    expect(server.stats().frames).toEqual({ encoded: 1, shared: 2, restamped: 0 });
    const { config } = await server.clientStatus(
      { excludeResourceContents: true },
      { peer: { address: peer } },
    );
    expect(config.map(({ node }) => node?.id)).toEqual(["v1", "v2", "plain"]);
    const waiting = server.waitForAck(cache.revision);
    for (const call of calls) call.ack(call.next());
    expect((await waiting).accepted).toHaveLength(3);
  });

  it(`is told the metadata of the node (${variant}) [S-NODE-8]`, async () => {
    const asked: Peer[] = [];
    const { open } = serve(clusters("a"), {
      sourceFor: (who) => {
        asked.push(who);
        return undefined;
      },
    });
    for (const metadata of [{ team: { name: "blue" } }, undefined])
      open(variant, { id: "n", ...(metadata && { metadata }) }).ask(types.cluster, ["*"]);
    await decided();
    expect(asked.map(({ node }) => node?.metadata)).toEqual([
      { team: { name: "blue" } },
      undefined,
    ]);
  });

  it(`ends streams that wait when the server closes (${variant}) [S-STREAM-13]`, async () => {
    const { open, turn, server } = serve(clusters("a"), {
      authorize: () => new Promise<Policy>(() => undefined),
    });
    const [silent, asking] = [open(variant), open(variant)];
    asking.ask(types.cluster, ["*"]);
    const closing = server.close();
    await decided();
    turn();
    await closing;
    for (const call of [silent, asking])
      expect(call.closed).toEqual({ code: 14, message: "the server is shutting down" });
  });
});

describe("createServer({ authorize })", () => {
  it("bounds what waits for a decision, in messages and in bytes", async () => {
    const limits = { waitingMessages: 3, waitingBytes: 1_000 };
    const ask = (count: number, names: readonly string[]): { readonly closed: unknown } => {
      const server = createServer({
        source: clusters("a"),
        limits: { access: limits },
        authorize: () => new Promise<Policy>(() => undefined),
      });
      // This wire cannot pause.
      const wire = createMemoryStream((out) => {
        const handler = server.accept(paths["delta/ads"], peer, {
          send: (message) => out.send(message),
          close: (status) => {
            out.close(status);
          },
        });
        if ("code" in handler) throw new Error(handler.message);
        return handler;
      });
      const client = createClient(wire, "delta", { id: "n" });
      for (let n = 0; n < count; n++) client.ask(types.cluster, names);
      return wire;
    };
    const rejected = {
      code: 8,
      message: "too many messages before it is decided what this client may see",
    };
    expect(ask(3, ["a"]).closed).toBeUndefined();
    expect(ask(4, ["a"]).closed).toEqual(rejected);
    expect(ask(1, ["x".repeat(2_000)]).closed).toBeUndefined();
    expect(ask(2, ["x".repeat(2_000)]).closed).toEqual(rejected);
    await decided();
  });

  it("asks nobody for a stream without node, or with one that cannot be read [S-NODE-2]", async () => {
    let asked = 0;
    const { openPath, events } = serve(clusters("a"), {
      authorize: () => {
        asked++;
        return everything;
      },
    });
    const [none, broken, empty] = [
      openPath(paths["delta/ads"]),
      openPath(paths["sotw/ads"]),
      openPath(paths["delta/ads"]),
    ];
    none.send(Uint8Array.of(18, 1, 65));
    broken.send(Uint8Array.of(18, 2, 10, 9));
    empty.end();
    await decided();
    expect([none.closed, broken.closed, empty.closed]).toEqual([
      { code: 3, message: "the first message has no node" },
      { code: 3, message: "the request cannot be decoded" },
      { code: 0, message: "" },
    ]);
    expect(asked).toBe(0);
    expect(events).toMatchObject([{ kind: "rejected" }, { kind: "rejected" }]);
  });

  it("decides by the verified identity, whatever node id a client claims [S-NODE-8]", async () => {
    const seen = await namesFor(identityOf("spiffe://td/intruder"), { id: "admin" });
    expect(seen).toEqual({ code: 7, message: "not allowed" });
    expect(await namesFor(identityOf("spiffe://td/admin"), { id: "admin" })).toEqual(["a"]);
    expect(await namesFor(undefined, { id: "admin" })).toEqual({
      code: 16,
      message: "not authenticated",
    });
  });

  /** Returns the names that are shown to a client whose node id must be the last part of its name. */
  async function namesFor(identity: PeerIdentity | undefined, node: NodeInit): Promise<unknown> {
    const turns = createManualScheduler();
    const server = createServer({
      source: clusters("a"),
      clock: createFakeClock(),
      scheduler: createScheduler({ later: turns.later }),
      authorize(who) {
        const [uri] = who.identity?.uris ?? [];
        if (uri === undefined) throw new XdsError("UNAUTHENTICATED", "no certificate");
        if (uri !== `spiffe://td/${who.node?.id ?? ""}`)
          throw new XdsError("PERMISSION_DENIED", `${uri} is not ${who.node?.id ?? ""}`);
        return everything;
      },
    });
    const wire = createMemoryStream((out) => {
      const handler = server.accept(paths["delta/ads"], peer, out, identity);
      if ("code" in handler) throw new Error(handler.message);
      return handler;
    });
    const client: TestClient = createClient(wire, "delta", node);
    client.ask(types.cluster, ["*"]);
    await decided();
    turns.run();
    return wire.closed ?? client.next().names;
  }

  it("filters a Fetch, and rejects it as it does a stream [S-LIM-8] [S-REST-9]", async () => {
    const asked: Peer[] = [];
    const { server, events } = serve(clusters("a", "secret"), {
      authorize(who) {
        asked.push(who);
        if (who.identity === undefined) throw new XdsError("UNAUTHENTICATED", "no certificate");
        return { key: "k", allows: (_, name) => name !== "secret" };
      },
    });
    const request = { node: { id: "n" }, resourceNames: ["*"] };
    const { resources, versionInfo } = await server.fetch(types.cluster, request, {
      peer: { address: peer, identity: identityOf("spiffe://td/a") },
    });
    expect(resources).toHaveLength(1);
    expect(asked).toMatchObject([{ address: peer, path: fetchPath, node: { id: "n" } }]);
    const plain = serve(clusters("a")).server;
    expect((await plain.fetch(types.cluster, request)).versionInfo).toBe(versionInfo);
    await expect(server.fetch(types.cluster, request)).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
      text: "not authenticated",
    });
    expect(events.at(-1)).toMatchObject({
      kind: "rejected",
      path: fetchPath,
      reason: "no certificate",
    });
  });

  it("shows the status of clients to those with an equal policy, without names that are forbidden by now [B-CSDS-7] [S-LIM-8]", async () => {
    const tenants = new Map(
      ["x", "y"].map((key) => [
        key,
        createPolicy({ key, allows: (_, name) => name.startsWith(key) }),
      ]),
    );
    const { server, open, turn, asTenant } = multiTenant(tenants);
    const calls = ["x", "y"].map((id) => open("delta/ads", { id }));
    for (const call of calls) call.ask(types.cluster, ["*", "y1"]);
    await decided();
    turn();
    for (const call of calls) call.ack(call.next());
    const rows = async (key: string): Promise<unknown> =>
      (await server.clientStatus({}, { peer: asTenant(key) })).config.map(
        ({ node, genericXdsConfigs }) => [
          node?.id,
          genericXdsConfigs.map(({ name, configStatus }) => [
            name,
            configStatus === ConfigStatus.SYNCED,
          ]),
        ],
      );
    expect(await rows("x")).toEqual([["x", [["x1", true]]]]);
    expect(await rows("y")).toEqual([
      [
        "y",
        [
          ["y1", true],
          ["y2", true],
        ],
      ],
    ]);
    tenants.get("y")?.replace((_, name) => name === "y1");
    turn();
    expect(await rows("y")).toEqual([["y", [["y1", true]]]]);
    await expect(server.clientStatus({}, { peer: asTenant("z") })).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      text: "not allowed",
    });
    expect((await server.clientStatus()).config).toHaveLength(2);
  });

  it.each([true, false])(
    "shows the status of clients only to those with the same source, with authorize or without: %s [B-CSDS-7] [S-LIM-8]",
    async (isAuthorized) => {
      const sources = new Map(["a", "b"].map((id) => [id, clusters(id)]));
      const { server, open, turn } = serve(clusters("all"), {
        sourceFor: ({ identity, node }) => sources.get(identity?.uris[0] ?? node?.id ?? ""),
        ...(isAuthorized && { authorize: () => everything }),
      });
      const calls = ["a", "b", "other"].map((id) => open("delta/ads", { id }));
      for (const call of calls) call.ask(types.cluster, ["*"]);
      await decided();
      turn();
      const seenBy = async (uri: string): Promise<unknown> =>
        (
          await server.clientStatus({}, { peer: { address: peer, identity: identityOf(uri) } })
        ).config.map(({ node }) => node?.id);
      expect([await seenBy("a"), await seenBy("b"), await seenBy("none")]).toEqual([
        ["a"],
        ["b"],
        ["other"],
      ]);
    },
  );

  function multiTenant(
    tenants: ReadonlyMap<string, Policy>,
  ): Harness & { readonly asTenant: (key: string) => { address: string; identity: PeerIdentity } } {
    return {
      ...serve(clusters("x1", "y1", "y2"), {
        authorize({ identity, node }) {
          const policy = tenants.get(identity?.uris[0] ?? node?.id ?? "");
          if (policy === undefined) throw new XdsError("PERMISSION_DENIED", "no such tenant");
          return policy;
        },
      }),
      asTenant: (key) => ({ address: peer, identity: identityOf(key) }),
    };
  }

  it("waits for the ACKs of what each client may see, under the revisions of the source", async () => {
    const cache = clusters("a", "secret");
    const { open, turn, server } = serve(cache, {
      authorize: () => ({ key: "k", allows: (_, name) => name !== "secret" }),
    });
    const call = open("delta/ads", { id: "n" });
    call.ask(types.cluster, ["*"]);
    await decided();
    turn();
    call.ack(call.next());
    const hidden = cache.put({
      typeUrl: types.cluster,
      name: "secret",
      value: payload("secret", "changed"),
    });
    expect(await server.waitForAck(hidden.revision)).toMatchObject({ noSubscribers: true });
    const shown = cache.put({ typeUrl: types.cluster, name: "a", value: payload("a", "changed") });
    const waiting = server.waitForAck(shown.revision);
    turn();
    call.ack(call.next());
    expect(await waiting).toMatchObject({ noSubscribers: false, accepted: [{ node: "n" }] });
  });

  it.each<VariantName>(["delta/ads", "sotw/ads"])(
    "takes the ACK of what a change of the policy brought as up to date (%s)",
    async (variant) => {
      const policy = createPolicy({ key: "k", allows: (_, name) => name === "a" });
      const { open, turn, server } = serve(clusters("a", "b"), { authorize: () => policy });
      const call = open(variant);
      call.ask(types.cluster, ["*"]);
      await decided();
      turn();
      call.ack(call.next());
      policy.replace((_, name) => name === "b");
      turn();
      const response = call.next();
      expect([response.names, response.removed]).toEqual([
        ["b"],
        variant === "delta/ads" ? ["a"] : [],
      ]);
      call.ack(response);
      expect(server.status()[0]?.types[0]).toMatchObject({ state: "SYNCED" });
      expect(call.unread).toBe(0);
    },
  );

  it.each<VariantName>(["delta/ads", "sotw/ads"])(
    "does not send what was taken for later and is forbidden by then (%s) [S-LIM-8] [S-ORD-4]",
    async (variant) => {
      const policy = createPolicy({ key: "k", allows: () => true });
      const cache = clusters("x");
      cache.put({ typeUrl: types.route, name: "x", value: payload("x") });
      const { open, turn } = serve(cache, { authorize: () => policy });
      const call = open(variant);
      call.ask(types.cluster, ["x", "new"]);
      call.ask(types.route, ["x", "new"]);
      await decided();
      for (let round = 0; round < 3; round++) {
        turn();
        while (call.unread > 0) call.ack(call.next());
      }
      cache.transaction(({ put }) => {
        put({ typeUrl: types.cluster, name: "new", value: payload("new") });
        put({ typeUrl: types.route, name: "x", value: routeTo("new") });
      });
      turn();
      const first = call.next();
      expect([first.typeUrl, call.unread]).toEqual([types.cluster, 0]);
      policy.replace((typeUrl) => typeUrl !== types.route);
      call.ack(first);
      turn();
      const rest = call.unread === 0 ? [] : [call.next()];
      expect(rest.flatMap(({ names }) => names)).toEqual([]);
      if (variant === "delta/ads") expect(rest.flatMap(({ removed }) => removed)).toContain("x");
    },
  );
});
