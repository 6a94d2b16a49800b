import type { Message } from "@xdstp/core";
import { type Cluster, ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { createRawDeltaServer } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";

import { memoryStore, nameOf } from "../../test/use-origin.ts";
import { type SocketServer, useClusterServer, useSockets } from "../../test/use-sockets.ts";
import { jsonType } from "../web-type.ts";
import {
  createWebSocketClient,
  messageType,
  type WatchState,
  type WebClient,
  type WebSocketClientOptions,
  type WebWatch,
  type WebWatchOptions,
} from "./index.ts";

const cluster = messageType(ClusterSchema);

interface World {
  readonly client: WebClient;
  readonly errors: string[];
  readonly watch: (
    id: string,
    options?: WebWatchOptions<Cluster, string | undefined>,
  ) => { readonly states: string[]; readonly watch: WebWatch<Cluster, string | undefined> };
}

function useClient(
  { clock, connect }: SocketServer,
  options: Partial<WebSocketClientOptions> = {},
): World {
  const errors: string[] = [];
  const client = createWebSocketClient({
    url: "wss://acme.example",
    store: false,
    connect,
    clock,
    random: () => 0.5,
    onError: ({ message }) => errors.push(message),
    ...options,
  });
  onTestFinished(() => {
    client.close();
  });
  return {
    client,
    errors,
    watch(id, watching = {}) {
      const states: string[] = [];
      const watch = client.watch(
        cluster,
        nameOf(id),
        (state) => {
          states.push(textOf(state));
        },
        watching,
      );
      return { states, watch };
    },
  };
}

function textOf({ phase, value, error }: WatchState<Cluster, string | undefined>): string {
  const shown =
    typeof value === "object" ? `${String(value.connectTimeout?.seconds ?? 0n)}s` : String(value);
  return `${phase} ${shown}${error === undefined ? "" : ` !${error.code}`}`;
}

describe("createWebSocketClient()", () => {
  it("reports the resource, each change and its end, with the default where there is none", async () => {
    const server = useClusterServer();
    server.put("web", 1);
    const { states, watch } = useClient(server).watch("web", { default: "none" });
    expect(textOf(watch.state)).toBe("waiting none");
    await server.pass(0);
    server.put("web", 2);
    await server.pass(0);
    server.remove("web");
    await server.pass(0);
    server.put("web", 3);
    await server.pass(0);
    expect(states).toEqual(["current 1s", "current 2s", "missing none !NOT_FOUND", "current 3s"]);
  });

  it("watches all names over one socket, and shares a name among its watches [C-SUB-10]", async () => {
    const server = useClusterServer();
    server.put("a", 1);
    server.put("b", 2);
    const { watch } = useClient(server);
    const [a, b, again] = [watch("a"), watch("b"), watch("a")];
    await server.pass(0);
    expect([a.states, b.states, again.states]).toEqual([
      ["current 1s"],
      ["current 2s"],
      ["current 1s"],
    ]);
    expect(server.opened.map(({ url }) => url)).toEqual([
      "wss://acme.example/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
    ]);
    a.watch.close();
    server.put("a", 3);
    await server.pass(0);
    expect([a.states, again.states]).toEqual([["current 1s"], ["current 1s", "current 3s"]]);
    expect(textOf(watch("a").watch.state)).toBe("current 3s");
  });

  it("shows the state of an earlier client at once, also without a server, then the one of the server", async () => {
    const server = useClusterServer();
    const store = memoryStore();
    await server.pass(1_000);
    server.put("web", 1);
    const before = useClient(server, { store });
    before.watch("web");
    await server.pass(100);
    before.client.close();
    server.isUp = false;
    const { states, watch } = useClient(server, { store }).watch("web");
    await server.pass(0);
    expect(watch.state).toMatchObject({ phase: "stored", savedAt: 1_000 });
    server.put("web", 2);
    server.isUp = true;
    await server.pass(1_200);
    expect(states.at(-1)).toBe("current 2s");
    expect(new Set(states.slice(0, -1))).toEqual(new Set(["stored 1s !UNAVAILABLE"]));
  });

  it("keeps the state while the server is away, opens sockets after pauses that grow, with jitter, and comes back [C-RECON-1]", async () => {
    const server = useClusterServer();
    server.put("web", 1);
    const randoms = [0, 1, 0.5];
    let drawn = 0;
    const { states } = useClient(server, {
      random: () => randoms[drawn++ % randoms.length] ?? 0,
    }).watch("web");
    await server.pass(0);
    server.isUp = false;
    server.cut();
    for (let ms = 0; ms < 6_000; ms += 40) await server.pass(40);
    for (let seconds = 0; seconds < 600; seconds++) await server.pass(1_000);
    const pauses = server.opened
      .slice(1)
      .map(({ at }, index) => at - (server.opened[index]?.at ?? 0));
    expect(pauses.length).toBeLessThan(16);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(145_000);
    // 1 s and its growth, by 20 % less, 20 % more and neither.
    expect(pauses.slice(0, 3)).toEqual([800, 1_920, 2_560]);
    expect(states).toEqual(["current 1s", "current 1s !UNAVAILABLE"]);
    server.isUp = true;
    server.put("web", 2);
    for (let seconds = 0; seconds < 150; seconds++) await server.pass(1_000);
    expect(states.slice(2)).toEqual(["current 2s"]);
  });

  it("asks only for what has changed when it comes back, and ends the error when nothing has [C-RECON-3]", async () => {
    const raw = createRawDeltaServer();
    const server = useRaw(raw);
    const { states } = useClient(server, { node: { id: "page-1", cluster: "shop" } }).watch("web");
    await server.pass(0);
    expect(raw.next()).toMatchObject({
      node: {
        id: "page-1",
        cluster: "shop",
        userAgentName: "xdstp-web",
        clientFeatures: ["xds.config.supports-resource-ttl"],
      },
      resourceNamesSubscribe: [nameOf("web")],
    });
    raw.send(responseOf(1));
    await server.pass(0);
    server.isUp = false;
    server.cut();
    for (let seconds = 0; seconds < 20; seconds++) await server.pass(1_000);
    server.isUp = true;
    for (let seconds = 0; seconds < 40; seconds++) await server.pass(1_000);
    expect(raw.rest().at(-1)).toMatchObject({
      resourceNamesSubscribe: [nameOf("web")],
      initialResourceVersions: { [nameOf("web")]: "v1" },
    });
    expect(states).toEqual(["current 1s", "current 1s !UNAVAILABLE", "current 1s"]);
  });

  it("sends the server what a watch rejects, and keeps the value before, also over a loss of the connection [C-ACK-5]", async () => {
    const server = useClusterServer();
    const store = memoryStore();
    server.put("web", 1);
    const { watch, errors } = useClient(server, { store });
    const strict = watch("web", {
      validate: ({ connectTimeout }) => (connectTimeout?.seconds === 2n ? "no twos" : undefined),
    });
    const other = watch("web");
    await server.pass(0);
    server.put("web", 2);
    await server.pass(0);
    expect(strict.states).toEqual(["current 1s", "current 1s !INVALID_ARGUMENT"]);
    expect(other.states).toEqual(["current 1s", "current 2s"]);
    expect(errors).toEqual([`[INVALID_ARGUMENT] ${nameOf("web")} is rejected: no twos`]);
    expect(server.rejections).toEqual([expect.stringContaining("no twos")]);
    server.cut();
    for (let seconds = 0; seconds < 20; seconds++) await server.pass(1_000);
    expect(server.rejections).toHaveLength(2);
    expect([strict.states.length, errors.length]).toEqual([2, 1]);
    server.put("web", 3);
    await server.pass(0);
    expect([strict.states.at(-1), other.states.at(-1)]).toEqual(["current 3s", "current 3s"]);
  });

  it("rejects a message that cannot be read, and does not store it [C-ACK-5]", async () => {
    const raw = createRawDeltaServer();
    const server = useRaw(raw);
    const store = memoryStore();
    const { states } = useClient(server, { store }).watch("web");
    await server.pass(0);
    raw.send(responseOf(1));
    await server.pass(0);
    raw.rest();
    raw.send(responseOf(0, { version: "v2", value: Uint8Array.of(0xff) }));
    await server.pass(0);
    expect(raw.rest().at(-1)?.errorDetail?.message).toContain("is rejected");
    expect(states).toEqual(["current 1s", "current 1s !INVALID_ARGUMENT"]);
    expect([...store.held.values()].map(({ version }) => version)).toEqual(["v1"]);
  });

  it("rejects a redirect, which it does not follow", async () => {
    const raw = createRawDeltaServer();
    const server = useRaw(raw);
    const { states } = useClient(server).watch("web");
    await server.pass(0);
    const typeUrl = "type.googleapis.com/xds.core.v3.ResourceLocator";
    raw.send(responseOf(0, { typeUrl }));
    await server.pass(0);
    expect(raw.rest().at(-1)?.errorDetail?.message).toContain("does not follow");
    expect(states).toEqual(["waiting undefined !UNIMPLEMENTED"]);
  });

  it("says that a server does not answer, and does not take that for a resource that is missing [C-GRPC-10]", async () => {
    const raw = createRawDeltaServer();
    const server = useRaw(raw);
    const store = memoryStore();
    const { states } = useClient(server, { store, answerMs: 5_000 }).watch("web", {
      default: "none",
    });
    await server.pass(0);
    await server.pass(5_000);
    expect(states).toEqual(["waiting none !UNAVAILABLE"]);
    raw.send(responseOf(1));
    await server.pass(0);
    expect(states.at(-1)).toBe("current 1s");
  });

  it("removes a resource whose TTL expires, and keeps one with heartbeats [C-TTL-3] [C-TTL-4]", async () => {
    const raw = createRawDeltaServer();
    const server = useRaw(raw);
    const { states } = useClient(server).watch("web");
    await server.pass(0);
    raw.send(responseOf(1, { ttl: 9n }));
    await server.pass(0);
    await server.pass(8_000);
    // A heartbeat has no content.
    raw.send({
      ...responseOf(1),
      resources: [{ name: nameOf("web"), version: "v1", ttl: { seconds: 9n } }],
    });
    await server.pass(8_000);
    expect(states).toEqual(["current 1s"]);
    await server.pass(1_000);
    raw.send(responseOf(2, { ttl: 9n }));
    await server.pass(9_000);
    expect(states.slice(1)).toEqual([
      "missing undefined !NOT_FOUND",
      "current 2s",
      "missing undefined !NOT_FOUND",
    ]);
  });

  it("renews the time of what is stored while it is connected, once a minute or so, and not in an outage", async () => {
    const server = useClusterServer();
    const store = memoryStore();
    const saves: number[] = [];
    const counting = {
      ...store,
      save: async (...args: Parameters<typeof store.save>) => {
        saves.push(args[1].savedAt);
        return store.save(...args);
      },
    };
    server.put("web", 1);
    server.put("secret", 1, { noStore: true });
    const { watch } = useClient(server, { store: counting });
    watch("web");
    watch("secret");
    for (let seconds = 0; seconds < 299; seconds++) await server.pass(1_000);
    await server.pass(900);
    expect(saves).toEqual([0, 60_000, 120_000, 180_000, 240_000]);
    // The watch has no error yet at the next confirmation.
    server.isUp = false;
    server.cut();
    for (let seconds = 0; seconds < 200; seconds++) await server.pass(1_000);
    expect(saves).toHaveLength(5);
    expect([...store.held.keys()]).toEqual([
      `wss://acme.example ${cluster.typeUrl} ${nameOf("web")}`,
    ]);
  });

  it("forgets a resource that the server no longer has", async () => {
    const server = useClusterServer();
    const store = memoryStore();
    server.put("web", 1);
    useClient(server, { store }).watch("web");
    await server.pass(0);
    expect(store.held.size).toBe(1);
    server.remove("web");
    await server.pass(0);
    expect(store.held.size).toBe(0);
  });

  it("closes the socket some time after the last watch, and opens one for the next [C-STREAM-14]", async () => {
    const server = useClusterServer();
    server.put("web", 1);
    const { watch } = useClient(server);
    const first = watch("web");
    await server.pass(0);
    const [socket] = server.sockets;
    first.watch.close();
    await server.pass(10_000);
    expect([server.sockets.size, socket?.closedWith]).toEqual([0, 4_000]);
    server.put("web", 2);
    const { states } = watch("web");
    await server.pass(0);
    expect([states, server.opened.length]).toEqual([["current 2s"], 2]);
  });

  it("closes the socket with the client, also while it is being opened, and opens none after it", async () => {
    const server = useClusterServer();
    server.put("web", 1);
    const open = useClient(server);
    const { states } = open.watch("web");
    await server.pass(0);
    open.client.close();
    const early = useClient(server);
    early.watch("web");
    await Promise.resolve();
    early.client.close();
    server.put("web", 2);
    await server.pass(60_000);
    expect([states, server.sockets.size]).toEqual([["current 1s"], 0]);
    expect(server.opened.length).toBeLessThanOrEqual(2);
    expect(() => open.watch("web")).toThrow("[FAILED_PRECONDITION] the client is closed");
  });

  it("may be closed by a listener, in the middle of a response", async () => {
    const server = useClusterServer();
    server.put("web", 1);
    server.put("other", 1);
    const { client, watch } = useClient(server);
    const seen: string[] = [];
    client.watch(cluster, nameOf("web"), ({ phase }) => {
      seen.push(phase);
      client.close();
    });
    const other = watch("other");
    await server.pass(0);
    expect([seen, other.states, server.sockets.size]).toEqual([["current"], [], 0]);
  });

  it("takes a socket that cannot be created for a server that cannot be reached", async () => {
    const server = useClusterServer();
    let attempts = 0;
    const { states } = useClient(server, {
      connect: () => {
        attempts++;
        throw new Error("mixed content");
      },
    }).watch("web");
    for (let seconds = 0; seconds < 10; seconds++) await server.pass(1_000);
    expect(states).toEqual(["waiting undefined !UNAVAILABLE"]);
    expect(attempts).toBeGreaterThan(2);
  });

  it.each([
    [`xdstp://acme.example/envoy.config.cluster.v3.Cluster/*`, "[UNIMPLEMENTED]"],
    ["*", "[UNIMPLEMENTED]"],
    ["xdstp://acme.example/", "[INVALID_ARGUMENT]"],
    ["", "[INVALID_ARGUMENT]"],
  ])("throws for the name %j", (name, code) => {
    const { client } = useClient(useClusterServer());
    expect(() => client.watch(cluster, name, () => undefined)).toThrow(code);
  });

  it("throws for a type of JSON, and for a URL that is not one of a WebSocket", () => {
    const { client } = useClient(useClusterServer());
    const json = jsonType("envoy.config.cluster.v3.Cluster");
    expect(() => client.watch(json, nameOf("web"), () => undefined)).toThrow("messageType(schema)");
    for (const url of ["https://acme.example", "wss://", "wss://acme.example?a", "wss://a/#b"])
      expect(() => createWebSocketClient({ url })).toThrow("[INVALID_ARGUMENT]");
  });
});

/** A server of sockets whose responses a test writes. */
function useRaw(raw: ReturnType<typeof createRawDeltaServer>): SocketServer {
  return useSockets((_path, out) => {
    let toServer: ReturnType<typeof raw.connect> | undefined;
    toServer = raw.connect({
      onMessage: (message) => out.send(enveloped(message)),
      onDrained: () => undefined,
      onClosed: (status) => {
        out.close(status);
      },
    });
    return {
      onMessage: (message) => toServer?.send(enveloped(message)),
      onDrained: () => undefined,
      onClosed: (status) => {
        toServer?.close(status);
        toServer = undefined;
      },
    };
  });
}

function enveloped(message: Uint8Array): Message {
  const whole = new Uint8Array(5 + message.length);
  new DataView(whole.buffer).setUint32(1, message.length);
  whole.set(message, 5);
  return { bytes: whole.subarray(5), enveloped: whole };
}

function responseOf(
  seconds: number,
  {
    version = `v${seconds}`,
    typeUrl = cluster.typeUrl,
    value = Uint8Array.of(0x22, 2, 8, seconds),
    ttl,
  }: {
    readonly version?: string;
    readonly typeUrl?: string;
    readonly value?: Uint8Array;
    readonly ttl?: bigint;
  } = {},
): Parameters<ReturnType<typeof createRawDeltaServer>["send"]>[0] {
  return {
    typeUrl: cluster.typeUrl,
    nonce: version,
    resources: [
      {
        name: nameOf("web"),
        version,
        resource: { typeUrl, value },
        ...(ttl !== undefined && { ttl: { seconds: ttl } }),
      },
    ],
  };
}
