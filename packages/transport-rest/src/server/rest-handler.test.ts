import { XdsError } from "@xdstp/core";
import { SERVICES } from "@xdstp/protos/services";
import { clusters } from "@xdstp/resource-types/envoy";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { createRestHandler } from "./index.ts";
import { endpointsPath, readAnswer, turns, useRest } from "../../test/use-rest.ts";

describe("a poll", () => {
  it("gets all clusters, and 304 while it has these [S-REST-1] [S-REST-3] [S-REST-5] [B-NONCE-11]", async () => {
    const { put, poll } = useRest();
    put("a", 1);
    put("b", 1);
    const first = await poll();
    expect(first).toMatchObject({ status: 200, clusters: ["a=1", "b=1"] });
    expect(first.version).not.toBe("");
    expect(await poll({ version: first.version })).toMatchObject({ status: 304 });
    expect(await poll({ version: first.version })).toMatchObject({ status: 304 });
    put("a", 2);
    expect(await poll({ version: first.version })).toMatchObject({ clusters: ["a=2", "b=1"] });
  });

  it("gets the newest state, not the one that was new when the client polled last [S-REST-3]", async () => {
    const { put, poll } = useRest();
    put("a", 1);
    const { version } = await poll();
    await poll({ version });
    put("a", 2);
    await turns();
    put("a", 3);
    await turns();
    expect(await poll({ version })).toMatchObject({ clusters: ["a=3"] });
  });

  it("with the current version gets 304 from a server that does not know the client [S-REST-3]", async () => {
    const { put, poll, handler, server } = useRest();
    put("a", 1);
    const { version } = await poll({ names: ["a"] });
    handler.close();
    expect(await poll({ version, names: ["a"] })).toMatchObject({ status: 304 });
    expect(server.status()).toMatchObject([
      { types: [{ state: "SYNCED", versionAccepted: version }] },
    ]);
  });

  it("is answered with 200 when a heartbeat is due that no poll waited for, and with 304 before [S-TTL-2] [S-REST-3]", async () => {
    const clock = createFakeClock();
    const { cache, poll } = useRest({}, { clock });
    cache.put(clusters, { name: "a", connectTimeout: { seconds: 1n } }, { ttlMs: 30_000 });
    const features = ["xds.config.supports-resource-ttl", "xds.config.supports-resource-in-sotw"];
    const { version } = await poll({ features });
    expect(await poll({ version, features })).toMatchObject({ status: 304 });
    for (let time = 0; time < 3; time++) {
      clock.advance(11_000);
      await turns();
      // The state, or a heartbeat, which has no payload.
      const { clusters: sent, ...answer } = await poll({ version, features });
      expect(answer).toMatchObject({ status: 200, version });
      expect(sent).toHaveLength(1);
      expect(await poll({ version, features })).toMatchObject({ status: 304 });
    }
  });

  it("that waits is answered by a change, and with 304 when its time is over [S-REST-3]", async () => {
    const { put, poll, clock } = useRest();
    put("a", 1);
    const { version } = await poll();
    const held = poll({ version, wait: 20 });
    await turns();
    put("a", 2);
    const changed = await held;
    expect(changed).toMatchObject({ status: 200, clusters: ["a=2"] });
    const idle = poll({ version: changed.version, wait: 20 });
    await turns();
    clock.advance(20_000);
    expect(await idle).toMatchObject({ status: 304 });
  });

  it("that asks for a longer wait than the server gives is answered before [S-REST-3]", async () => {
    const { put, poll, clock } = useRest({ mostWaitMs: 1_000 });
    put("a", 1);
    const { version } = await poll();
    const held = poll({ version, wait: 99_999 });
    await turns();
    clock.advance(1_000);
    expect(await held).toMatchObject({ status: 304 });
  });

  it("with an error is a NACK: the state is not sent again before a change [S-REST-4]", async () => {
    const { put, poll, server, clock } = useRest();
    put("a", 1);
    const { version } = await poll();
    await poll({ version });
    put("a", 2);
    expect(await poll({ version })).toMatchObject({ clusters: ["a=2"] });
    expect(await poll({ version, error: "no" })).toMatchObject({ status: 304 });
    expect(server.status()).toMatchObject([
      { types: [{ state: "NACKED", lastError: { message: "no" } }] },
    ]);
    clock.advance(200_000);
    expect(await poll({ version, error: "no" })).toMatchObject({ status: 304 });
    put("a", 3);
    expect(await poll({ version, error: "no" })).toMatchObject({ clusters: ["a=3"] });
  });

  it("with the older version and no error, as Envoy sends it, is a NACK too; the state is sent again after a pause, which doubles [S-REST-4]", async () => {
    const { put, poll, server, clock } = useRest({ againMs: 10_000 });
    put("a", 1);
    const { version } = await poll();
    await poll({ version });
    put("a", 2);
    const again = async (): Promise<number> => (await poll({ version })).status;
    expect(await again()).toBe(200);
    expect(await again()).toBe(304);
    expect(server.status()).toMatchObject([
      {
        types: [
          {
            state: "NACKED",
            lastError: { message: expect.stringContaining("without an error") as string },
          },
        ],
      },
    ]);
    clock.advance(9_000);
    expect(await again()).toBe(304);
    clock.advance(1_000);
    expect(await again()).toBe(200);
    expect(await again()).toBe(304);
    clock.advance(15_000);
    expect(await again()).toBe(304);
    clock.advance(5_000);
    const last = await poll({ version });
    expect(last.status).toBe(200);
    // Once it is accepted, the next pause is a short one again.
    await poll({ version: last.version });
    put("a", 3);
    const reject = async (): Promise<number> => (await poll({ version: last.version })).status;
    expect(await reject()).toBe(200);
    expect(await reject()).toBe(304);
    clock.advance(10_000);
    expect(await reject()).toBe(200);
  });

  it("of a rejecting client that asks for more names is no ACK [S-REST-4]", async () => {
    const { put, poll, server } = useRest();
    put("a", 1);
    const { version } = await poll({ names: ["a"] });
    await poll({ version, names: ["a"] });
    put("a", 2);
    await poll({ version, names: ["a"] });
    await poll({ version, names: ["a"], error: "no" });
    await poll({ version, names: ["a", "b"] });
    expect(server.status()).toMatchObject([{ types: [{ versionAccepted: version, nacks: 1 }] }]);
  });

  it("that accepts a state which is again what it was before the rejected one is an ACK [S-REST-4]", async () => {
    const { put, poll, server } = useRest();
    put("a", 1);
    const { version } = await poll();
    await poll({ version });
    put("a", 2);
    await poll({ version });
    await poll({ version, error: "no" });
    put("a", 1);
    expect(await poll({ version, error: "no" })).toMatchObject({ status: 200, version });
    expect(await poll({ version })).toMatchObject({ status: 304 });
    expect(server.status()).toMatchObject([{ types: [{ state: "SYNCED", nacks: 1 }] }]);
  });

  it.each([
    ["with an error", { error: "no" }],
    ["with the older version and no error, as Envoy sends it,", {}],
  ])(
    "%s gets the state that it had before the rejected one: it may have taken a part of that [S-REST-4]",
    async (_, answer) => {
      const { put, poll, remove } = useRest();
      put("a", 1);
      const { version } = await poll();
      await poll({ version });
      put("b", 1);
      await poll({ version });
      await poll({ version, ...answer });
      remove("b");
      // No poll waits for this change.
      await turns();
      const again = await poll({ version, ...answer });
      expect(again).toMatchObject({ status: 200, version, clusters: ["a=1"] });
      expect(await poll({ version })).toMatchObject({ status: 304 });
    },
  );

  it("with an error for an older response does not reject one that was lost [S-REST-4]", async () => {
    const { put, poll } = useRest();
    put("a", 1);
    const { version } = await poll();
    await poll({ version });
    put("a", 2);
    await poll({ version });
    await poll({ version, error: "no" });
    put("a", 3);
    await poll({ version, error: "no" }, { lost: true });
    expect(await poll({ version, error: "no" })).toMatchObject({ clusters: ["a=3"] });
  });

  it("with the nonce of an older response does not reject one that the client did not get [S-REST-5]", async () => {
    const { put, poll, server } = useRest();
    put("a", 1);
    const { version, nonce } = await poll();
    await poll({ version, nonce });
    put("a", 2);
    await poll({ version, nonce });
    expect(await poll({ version, nonce })).toMatchObject({ clusters: ["a=2"] });
    expect(server.status()).toMatchObject([{ types: [{ nacks: 0 }] }]);
  });

  it("for more names, after a response that the client gave up, gets the state of all of them", async () => {
    const { putEndpoints, poll, server } = useRest();
    putEndpoints("a", 1);
    putEndpoints("b", 1);
    await poll({ path: endpointsPath, names: ["a"] });
    const both = await poll({ path: endpointsPath, names: ["a", "b"] });
    expect(both).toMatchObject({ status: 200, endpoints: ["a=1", "b=1"] });
    await poll({ path: endpointsPath, names: ["a", "b"], version: both.version });
    expect(server.status()).toMatchObject([{ types: [{ state: "SYNCED", nacks: 0 }] }]);
  });

  it("after a response that it may not have got, gets that with the next change", async () => {
    const { putEndpoints, poll } = useRest();
    putEndpoints("a", 1);
    putEndpoints("b", 1);
    const names = ["a", "b"];
    const { version } = await poll({ path: endpointsPath, names });
    await poll({ path: endpointsPath, names, version });
    putEndpoints("a", 2);
    await poll({ path: endpointsPath, names, version });
    expect(await poll({ path: endpointsPath, names, version })).toMatchObject({ status: 304 });
    putEndpoints("b", 2);
    expect(await poll({ path: endpointsPath, names, version })).toMatchObject({
      endpoints: ["a=2", "b=2"],
    });
  });

  it("for a name that was left out for a time is an ACK of its state, which has the same version", async () => {
    const { putEndpoints, poll, server } = useRest();
    putEndpoints("a", 1);
    putEndpoints("b", 1);
    const { version } = await poll({ path: endpointsPath, names: ["a", "b"] });
    await poll({ path: endpointsPath, names: ["a"], version });
    expect(await poll({ path: endpointsPath, names: ["a", "b"], version })).toMatchObject({
      version,
      endpoints: ["b=1"],
    });
    expect(await poll({ path: endpointsPath, names: ["a", "b"], version })).toMatchObject({
      status: 304,
    });
    expect(server.status()).toMatchObject([{ types: [{ state: "SYNCED", nacks: 0 }] }]);
  });

  it("gets the first state of a server that needs longer for it than a poll waits", async () => {
    let allow = (): void => undefined;
    const { put, poll } = useRest(
      {},
      {
        authorize: () =>
          new Promise((resolve) => {
            allow = () => {
              resolve({ key: "all", allows: () => true });
            };
          }),
      },
    );
    put("a", 1);
    expect(await poll()).toMatchObject({ status: 304 });
    allow();
    await turns();
    expect(await poll()).toMatchObject({ clusters: ["a=1"] });
  });

  it("of another host with the same node id is no answer to what the first was sent", async () => {
    const { put, poll, server } = useRest();
    put("a", 1);
    const { version } = await poll({ host: "10.0.0.1" });
    await poll({ host: "10.0.0.1", version });
    await poll({ host: "10.0.0.2", version });
    put("a", 2);
    expect(await poll({ host: "10.0.0.1", version })).toMatchObject({ clusters: ["a=2"] });
    expect(await poll({ host: "10.0.0.2", version })).toMatchObject({ clusters: ["a=2"] });
    expect(server.status().flatMap(({ types }) => types.map(({ nacks }) => nacks))).toEqual([0, 0]);
  });

  it("of a client that has started again goes on with its session", async () => {
    const { put, poll, handler } = useRest();
    put("a", 1);
    const { version } = await poll();
    await poll({ version });
    expect(await poll()).toMatchObject({ clusters: ["a=1"] });
    expect(handler.sessions).toBe(1);
  });

  it("whose answer was lost gets it again [S-REST-3]", async () => {
    const { put, poll } = useRest();
    put("a", 1);
    const lost = await poll({}, { lost: true });
    const second = await poll();
    expect(second).toEqual({ ...lost, nonce: second.nonce });
    expect(await poll({ version: second.version })).toMatchObject({ status: 304 });
  });

  it("for more names gets their state, and for fewer nothing", async () => {
    const { put, poll } = useRest();
    put("a", 1);
    put("b", 1);
    const { version } = await poll({ names: ["a"] });
    await poll({ version, names: ["a"] });
    const both = await poll({ version, names: ["a", "b"] });
    expect(both).toMatchObject({ clusters: ["a=1", "b=1"] });
    expect(await poll({ version: both.version, names: ["b"] })).toMatchObject({ status: 304 });
  });

  it("of one of two clients with one node id gets what that client lacks", async () => {
    const { put, poll } = useRest();
    put("a", 1);
    const { version } = await poll();
    await poll({ version });
    put("a", 2);
    const newer = await poll({ version });
    await poll({ version: newer.version });
    expect(await poll({ version })).toMatchObject({ clusters: ["a=2"] });
    expect(await poll({ version: newer.version })).toMatchObject({ status: 304 });
    expect(await poll()).toMatchObject({ clusters: ["a=2"] });
  });

  it("is an ACK for those who wait for one [S-REST-4]", async () => {
    const { cache, put, poll, server } = useRest();
    put("a", 1);
    const { version } = await poll();
    await poll({ version });
    put("a", 2);
    const done = server.waitForAck(cache.revision);
    const newer = await poll({ version });
    await poll({ version: newer.version });
    expect(await done).toMatchObject({ noSubscribers: false });
  });

  it("of a client that has disconnected leaves the session free", async () => {
    const { put, poll, handler } = useRest();
    put("a", 1);
    const { version } = await poll();
    const left = new AbortController();
    const held = poll({ version, wait: 30, signal: left.signal });
    await turns();
    left.abort();
    expect(await held).toMatchObject({ status: 304 });
    put("a", 2);
    expect(await poll({ version })).toMatchObject({ clusters: ["a=2"] });
    expect(handler.sessions).toBe(1);
  });
});

describe("a path", () => {
  const paths = SERVICES.flatMap(({ restPath }) => (restPath === undefined ? [] : [restPath]));

  it("is there for each type that has one", () => {
    expect(paths).toContain("/v3/discovery:listeners");
    expect(paths).toHaveLength(8);
  });

  it.each(paths)("%s serves its type [S-REST-1]", async (path) => {
    const { handler, send, clock } = useRest();
    expect(handler.serves(path)).toBe(true);
    const answered = send({
      path,
      headers: { accept: "application/json" },
      body: async () => Promise.resolve(new TextEncoder().encode('{"node":{"id":"n"}}')),
    });
    await turns();
    clock.advance(100);
    expect([200, 304]).toContain((await answered).status);
  });
});

describe("sessions", () => {
  it("end when a client has not polled for long", async () => {
    const { put, poll, handler, server, clock } = useRest({ idleMs: 60_000 });
    put("a", 1);
    await poll();
    clock.advance(59_000);
    expect(handler.sessions).toBe(1);
    clock.advance(1_000);
    expect(handler.sessions).toBe(0);
    expect(server.status()).toEqual([]);
  });

  it("that fail are not kept", async () => {
    const handler = createRestHandler({
      accept: () => {
        throw new Error("no");
      },
    });
    const answer = await handler.handle({
      method: "POST",
      path: endpointsPath,
      header: () => undefined,
      body: async () => Promise.resolve(new TextEncoder().encode("{}")),
      peer: "10.0.0.1:5000",
      signal: new AbortController().signal,
    });
    expect(answer.status).toBe(500);
    expect(handler.sessions).toBe(0);
  });

  it("are limited: the one that was idle the longest goes, and a poll is rejected where all are busy", async () => {
    const { put, poll, handler } = useRest({ sessions: 2 });
    put("a", 1);
    await poll({ node: "n1" });
    await poll({ node: "n2" });
    await poll({ node: "n3" });
    expect(handler.sessions).toBe(2);
    const left = new AbortController();
    const held = ["n2", "n3"].map(async (node) => {
      const { version } = await poll({ node });
      return poll({ node, version, wait: 30, signal: left.signal });
    });
    await turns();
    expect(await poll({ node: "n4" })).toMatchObject({ status: 429 });
    left.abort();
    await Promise.all(held);
  });
});

describe("a request that is not a poll", () => {
  const json = { "content-type": "application/json" };
  const bodyOf = (text: string) => async () => Promise.resolve(new TextEncoder().encode(text));

  it.each([
    ["another path", { path: "/v3/discovery:all" }, 404, "is not a path of this server"],
    ["another method", { method: "GET" }, 405, "send a POST"],
    [
      "another media type",
      { headers: { "content-type": "text/html" } },
      415,
      "send application/json",
    ],
    ["broken JSON", { headers: json, body: bodyOf("{") }, 400, "is not a DiscoveryRequest in JSON"],
    [
      "a field of another type",
      { headers: json, body: bodyOf('{"node":[]}') },
      400,
      "is not a DiscoveryRequest in JSON: cannot decode",
    ],
    [
      "bytes that are not UTF-8",
      { headers: json, body: async () => Promise.resolve(Uint8Array.of(0xff)) },
      400,
      "is not a DiscoveryRequest in JSON",
    ],
    [
      "a broken binary body",
      {
        headers: { "content-type": "application/x-protobuf" },
        body: async () => Promise.resolve(Uint8Array.of(10)),
      },
      400,
      "is not a DiscoveryRequest in binary",
    ],
    [
      "the type of another path",
      { headers: json, body: bodyOf('{"type_url":"type.googleapis.com/acme.v1.Flag"}') },
      400,
      'type.googleapis.com/acme.v1.Flag\\", but /v3/discovery:clusters serves',
    ],
    [
      "a body that is too large",
      { headers: json, body: async () => Promise.resolve(undefined) },
      413,
      "larger than 4194304 bytes; the limit of the server is bodyBytes",
    ],
  ])("is answered with a reason: %s [S-REST-2]", async (_, request, status, text) => {
    const { send } = useRest();
    const answer = await send(request);
    expect(answer.status).toBe(status);
    expect(new TextDecoder().decode(answer.body)).toContain(text);
  });
});

describe("JSON", () => {
  it.each([
    [
      "as Envoy writes it",
      '{"version_info":"","node":{"id":"n","extensions":[7]},"resource_names":["a"],"type_url":"type.googleapis.com/envoy.config.cluster.v3.Cluster"}',
    ],
    [
      "as JSON usually has it",
      '{"node":{"id":"n"},"resourceNames":["a"],"later":true,"errorDetail":{"details":[{"@type":"acme.v1.Unknown"}]}}',
    ],
  ])(
    "is read in either spelling, without fields that are unknown: %s [S-REST-2]",
    async (_, text) => {
      const { put, send, clock } = useRest();
      put("a", 1);
      put("b", 1);
      const answered = send({
        headers: { "content-type": "application/json; charset=utf-8" },
        body: async () => Promise.resolve(new TextEncoder().encode(text)),
      });
      await turns();
      clock.advance(100);
      const answer = await answered;
      expect(answer.headers).toEqual({ "content-type": "application/json" });
      expect(JSON.parse(new TextDecoder().decode(answer.body))).toMatchObject({
        typeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        resources: [{ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "a" }],
      });
    },
  );

  it("is written once for clients in the same state", async () => {
    const { put, send, clock } = useRest();
    put("a", 1);
    const bodies = await Promise.all(
      ["n1", "n2"].map(async (node) => {
        const answered = send({
          body: async () => Promise.resolve(new TextEncoder().encode(`{"node":{"id":"${node}"}}`)),
        });
        await turns();
        return answered;
      }),
    );
    clock.advance(100);
    expect(bodies[0]?.body).toBeDefined();
    expect(bodies[0]?.body).toBe(bodies[1]?.body);
  });
});

describe("a type that the server does not let a client see", () => {
  it("is rejected with the status of HTTP", async () => {
    const { send, clock } = useRest(
      {},
      {
        authorize: () => {
          throw new XdsError("PERMISSION_DENIED", "no");
        },
      },
    );
    const answered = send({
      body: async () => Promise.resolve(new TextEncoder().encode('{"node":{"id":"n"}}')),
    });
    await turns();
    clock.advance(100);
    expect(readAnswer(await answered).status).toBe(403);
  });
});
