import { createNodeCaches, type NodeCaches } from "@xdstp/cache";
import { envoyTypes } from "@xdstp/resource-types";
import { describe, expect, it } from "vitest";
import { payload } from "../test/client.ts";
import { readyCache, serve, types, variants, type Harness, type VariantName } from "../test/harness.ts";

interface Subject extends Harness {
  readonly nodes: NodeCaches;
  readonly put: (key: string, name: string, text: string) => number;
}

function useNodes(): Subject {
  const nodes = createNodeCaches({ types: envoyTypes, keyOf: ({ cluster }) => cluster });
  nodes.shared.commit({});
  return {
    ...serve(nodes.serving.source, { ...nodes.serving }), nodes,
    put: (key, name, text) => (key === "" ? nodes.shared : nodes.of(key)).put({ typeUrl: types.cluster, name, value: payload(name, text) }).revision,
  };
}

/** Lets `sourceFor` answer. */
async function decided(): Promise<void> {
  await new Promise<void>((resolve) => { setImmediate(resolve); });
}

async function connect({ open, turn }: Subject, variant: VariantName, cluster: string): Promise<ReturnType<Harness["open"]>> {
  const call = open(variant, { id: `${cluster}-1`, cluster });
  call.ask(types.cluster, ["*"]);
  await decided();
  turn();
  return call;
}

describe.each(variants)("a server of caches per node (%s)", (variant) => {
  it(`sends other content under the same name, and waits for the ACKs of all nodes whose content changed (${variant}) [S-NODE-10] [S-ACK-9]`, async () => {
    const subject = useNodes();
    const { server, put, turn } = subject;
    put("", "web", "shared");
    put("gold", "web", "gold");
    const [gold, basic] = [await connect(subject, variant, "gold"), await connect(subject, variant, "basic")];
    for (const call of [gold, basic]) {
      const first = call.next();
      expect(first.names).toEqual(["web"]);
      call.ack(first);
    }
    const revision = put("gold", "web", "gold 2");
    const waiting = server.waitForAck(revision);
    turn();
    expect(basic.unread).toBe(0);
    gold.ack(gold.next());
    expect(await waiting).toMatchObject({ revision, accepted: [{ node: "gold-1" }] });
    const whole = server.waitForAck(put("", "api", "shared"));
    turn();
    for (const call of [gold, basic]) call.ack(call.next());
    expect((await whole).accepted).toHaveLength(2);
    expect(server.status().map(({ types: rows }) => rows[0]?.state)).toEqual(["SYNCED", "SYNCED"]);
    const { config } = await server.clientStatus({ excludeResourceContents: true }, { peer: { address: "192.0.2.9:1" } });
    expect(config.map(({ node }) => [node?.id, node?.metadata])).toEqual([["gold-1", { "xdstp.view": "gold" }], ["basic-1", { "xdstp.view": "basic" }]]);
    expect(server.status().map(({ viewKey }) => viewKey)).toEqual(["gold", "basic"]);
  });

  it(`sends the shared resource again when the one of the node is removed (${variant}) [S-NODE-10]`, async () => {
    const subject = useNodes();
    const { server, put, nodes, turn } = subject;
    put("", "web", "shared");
    put("gold", "web", "gold");
    const gold = await connect(subject, variant, "gold");
    gold.ack(gold.next());
    const waiting = server.waitForAck(nodes.of("gold").remove(types.cluster, "web").revision);
    turn();
    const next = gold.next();
    expect(next.names).toEqual(["web"]);
    gold.ack(next);
    expect((await waiting).accepted).toHaveLength(1);
    const revision = put("", "web", "shared 2");
    const again = server.waitForAck(revision);
    turn();
    gold.ack(gold.next());
    expect((await again).accepted).toHaveLength(1);
  });
});

it("says in words that sourceFor gave a source that is not a view, and why waitForAck does not know its revisions", async () => {
  const other = readyCache();
  const subject = serve(readyCache(), { sourceFor: () => other });
  const call = subject.open("delta/ads", { id: "e1" });
  call.ask(types.cluster, ["*"]);
  await decided();
  subject.turn();
  const { revision } = other.put({ typeUrl: types.cluster, name: "web", value: payload("web", "x") });
  await expect(subject.server.waitForAck(revision)).rejects.toThrow("createNodeCaches");
  expect(subject.events).toContainEqual({ kind: "warning", warning: "unrelated-source", message: expect.stringMatching(/"e1".*createNodeCaches/) as string });
});
