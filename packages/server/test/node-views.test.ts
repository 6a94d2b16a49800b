import { createNodeCaches, type NodeCaches } from "@xdstp/cache";
import { envoyTypes } from "@xdstp/resource-types";
import { expect, it, onTestFinished } from "vitest";
import { createServer, type XdsServer } from "../src/index.ts";
import { createClient, payload, readResponse, type TestResponse } from "./client.ts";
import { connectTo, openCall, requestsOf } from "./grpc-call.ts";
import { paths, types, variants, type VariantName } from "./harness.ts";

interface World {
  readonly nodes: NodeCaches;
  readonly server: XdsServer;
  readonly put: (key: string, name: string, text: string) => number;
  readonly connect: (
    variant: VariantName,
    cluster: string,
    holds?: Readonly<Record<string, string>>,
  ) => Promise<Client>;
}

/** Creates a client with its own connection, which subscribes to all clusters. */
interface Client {
  /** Returns the next response, and which of these texts it contains. */
  readonly next: () => Promise<TestResponse & { readonly texts: readonly string[] }>;
  readonly ack: (response: TestResponse) => void;
}

const texts = ["shared 1", "shared 2", "gold 1", "gold 2", "basic 1"];

async function useWorld(): Promise<World> {
  const nodes = createNodeCaches({ types: envoyTypes, keyOf: ({ cluster }) => cluster });
  const server = createServer({ ...nodes.serving });
  onTestFinished(async () => {
    await server.close({ graceMs: 1 });
  });
  const { port } = await server.listen({ port: 0 });
  return {
    nodes,
    server,
    put: (key, name, text) =>
      (key === "" ? nodes.shared : nodes.of(key)).put({
        typeUrl: types.cluster,
        name,
        value: payload(name, text),
      }).revision,
    async connect(variant, cluster, holds) {
      const session = await connectTo(port);
      onTestFinished(() => {
        session.destroy();
      });
      const call = openCall(session, paths[variant]);
      const kind = variant.startsWith("delta") ? "delta" : "sotw";
      const client = createClient(requestsOf(call), kind, { id: `${cluster}-1`, cluster });
      client.ask(types.cluster, ["*"], holds);
      return {
        ack: client.ack,
        async next() {
          const bytes = await call.next();
          if (bytes === undefined)
            throw new Error(`the call ended: ${JSON.stringify(await call.status)}`);
          return {
            ...readResponse(bytes, kind),
            texts: texts.filter((text) => Buffer.from(bytes).includes(text)),
          };
        },
      };
    },
  };
}

it.each(variants)(
  "serves two node keys over sockets, each with its own content and the shared one (%s) [S-NODE-10]",
  async (variant) => {
    const { nodes, server, put, connect } = await useWorld();
    put("", "web", "shared 1");
    put("gold", "web", "gold 1");
    put("basic", "web", "basic 1");
    const clients = [
      await connect(variant, "gold"),
      await connect(variant, "basic"),
      await connect(variant, "none"),
    ] as const;
    for (const [index, client] of clients.entries()) {
      const first = await client.next();
      expect(first.texts).toEqual([["gold 1"], ["basic 1"], ["shared 1"]][index]);
      client.ack(first);
    }
    const [gold, basic, none] = clients;
    const changed = server.waitForAck(put("gold", "web", "gold 2"));
    const second = await gold.next();
    expect(second.texts).toEqual(["gold 2"]);
    gold.ack(second);
    expect(await changed).toMatchObject({ accepted: [{ node: "gold-1" }] });
    const whole = server.waitForAck(put("", "web", "shared 2"));
    const shared = await none.next();
    expect(shared.texts).toEqual(["shared 2"]);
    none.ack(shared);
    expect(await whole).toMatchObject({ accepted: [{ node: "none-1" }] });
    const removed = server.waitForAck(nodes.of("basic").clear().revision);
    const back = await basic.next();
    expect(back.texts).toEqual(["shared 2"]);
    basic.ack(back);
    await removed;
    expect(server.status().map(({ viewKey, types: [type] }) => [viewKey, type?.state])).toEqual([
      ["gold", "SYNCED"],
      ["basic", "SYNCED"],
      ["none", "SYNCED"],
    ]);
  },
);

it.each(["delta/ads", "delta/per-type"] as const)(
  "sends a client of a key that comes back only what differs from what it holds (%s) [S-RECON-4] [S-NODE-10]",
  async (variant) => {
    const { nodes, put, connect } = await useWorld();
    put("", "api", "shared 1");
    put("gold", "web", "gold 1");
    const versionOf = (name: string): string =>
      nodes.of("gold").topic(types.cluster, { name }).get(name)?.resource?.version ?? "";
    const gold = await connect(variant, "gold", { api: versionOf("api"), web: "of another key" });
    expect(await gold.next()).toMatchObject({ names: ["web"], texts: ["gold 1"] });
  },
);
