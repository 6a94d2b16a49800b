import { createNodeCaches, type NodeCaches } from "@xdstp/cache";
import { envoyTypes } from "@xdstp/resource-types";
import type { Transaction } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { payload } from "../test/client.ts";
import {
  adsVariants,
  readyCache,
  serve,
  types,
  variants,
  type Harness,
  type VariantName,
} from "../test/harness.ts";
import { routeTo } from "../test/route-to.ts";

interface Subject extends Harness {
  readonly nodes: NodeCaches;
  readonly put: (key: string, name: string, text: string) => number;
}

function useNodes(): Subject {
  const nodes = createNodeCaches({ types: envoyTypes, keyOf: ({ cluster }) => cluster });
  nodes.shared.commit({});
  return {
    ...serve(nodes.serving.source, { ...nodes.serving }),
    nodes,
    put: (key, name, text) =>
      (key === "" ? nodes.shared : nodes.of(key)).put({
        typeUrl: types.cluster,
        name,
        value: payload(name, text),
      }).revision,
  };
}

/** Waits until `sourceFor` has answered. */
async function decided(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

async function connect(
  { open, turn }: Subject,
  variant: VariantName,
  cluster: string,
): Promise<ReturnType<Harness["open"]>> {
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
    const [gold, basic] = [
      await connect(subject, variant, "gold"),
      await connect(subject, variant, "basic"),
    ];
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
    const { config } = await server.clientStatus(
      { excludeResourceContents: true },
      { peer: { address: "192.0.2.9:1" } },
    );
    expect(config.map(({ node }) => [node?.id, node?.metadata])).toEqual([
      ["gold-1", { "xdstp.view": "gold" }],
      ["basic-1", { "xdstp.view": "basic" }],
    ]);
    expect(server.status().map(({ viewKey }) => viewKey)).toEqual(["gold", "basic"]);
  });

  it(`waits for every part of a commit to several keys (${variant}) [S-ACK-9]`, async () => {
    const subject = useNodes();
    const { server, put, nodes, turn } = subject;
    put("", "web", "first");
    const gold = await connect(subject, variant, "gold");
    gold.ack(gold.next());
    const part = (text: string): Transaction => ({
      put: [
        {
          typeUrl: types.cluster,
          resource: {
            name: "web",
            version: "",
            payload: { typeUrl: types.cluster, value: payload("web", text) },
          },
        },
      ],
    });
    const { revision } = nodes.commit(
      new Map([
        [undefined, part("shared")],
        ["gold", part("gold")],
      ]),
    );
    const waiting = server.waitForAck(revision);
    turn();
    gold.ack(gold.next());
    expect(await waiting).toMatchObject({ accepted: [{ node: "gold-1" }] });
  });

  it(`does not wait for the clients of another key, whose content has changed since (${variant}) [S-ACK-9]`, async () => {
    const subject = useNodes();
    const { server, put, turn } = subject;
    put("", "web", "shared");
    const [gold, basic, none] = [
      await connect(subject, variant, "gold"),
      await connect(subject, variant, "basic"),
      await connect(subject, variant, ""),
    ];
    for (const call of [gold, basic, none]) call.ack(call.next());
    const revision = put("gold", "web", "gold");
    const later = put("basic", "web", "basic");
    const waiting = server.waitForAck(revision);
    turn();
    basic.nack(basic.next(), "no");
    const late = await connect(subject, variant, "basic");
    late.nack(late.next(), "no");
    gold.ack(gold.next());
    expect(await waiting).toMatchObject({ accepted: [{ node: "gold-1" }], gone: [] });
    await expect(server.waitForAck(later)).rejects.toMatchObject({ code: "ABORTED" });
  });

  it(`is not satisfied by the clients of another key (${variant}) [S-ACK-9]`, async () => {
    const subject = useNodes();
    const { server, put, turn } = subject;
    put("", "web", "shared");
    const basic = await connect(subject, variant, "basic");
    basic.ack(basic.next());
    const revision = put("gold", "web", "gold");
    put("basic", "web", "basic");
    const waiting = server.waitForAck(revision, { nodes: ["basic-1", "gold-1"] });
    turn();
    basic.ack(basic.next());
    const gold = await connect(subject, variant, "gold");
    gold.ack(gold.next());
    expect(await waiting).toMatchObject({ accepted: [{ node: "gold-1" }] });
    const unseen = put("silver", "web", "silver");
    put("gold", "web", "gold 2");
    const noOne = server.waitForAck(unseen);
    turn();
    gold.ack(gold.next());
    expect((await noOne).noSubscribers).toBe(true);
  });

  it(`waits for the clients of all keys whose content a commit or a shared change concerns (${variant}) [S-ACK-9]`, async () => {
    const subject = useNodes();
    const { server, put, nodes, turn } = subject;
    put("", "web", "shared");
    const calls = [
      await connect(subject, variant, "gold"),
      await connect(subject, variant, "basic"),
      await connect(subject, variant, ""),
    ];
    for (const call of calls) call.ack(call.next());
    const part = (text: string): Transaction => ({
      put: [
        {
          typeUrl: types.cluster,
          resource: {
            name: "web",
            version: "",
            payload: { typeUrl: types.cluster, value: payload("web", text) },
          },
        },
      ],
    });
    const { revision } = nodes.commit(
      new Map([
        ["gold", part("gold")],
        ["basic", part("basic")],
      ]),
    );
    const both = server.waitForAck(revision);
    turn();
    for (const call of calls.slice(0, 2)) call.ack(call.next());
    expect((await both).accepted).toHaveLength(2);
    const all = server.waitForAck(
      nodes.commit(
        new Map([
          ["gold", part("gold 2")],
          [undefined, part("shared 2")],
        ]),
      ).revision,
    );
    turn();
    for (const call of calls) if (call.unread > 0) call.ack(call.next());
    expect((await all).accepted.map(({ node }) => node)).toEqual(["gold-1", "-1"]);
    const shared = server.waitForAck(put("", "api", "shared"));
    turn();
    for (const call of calls) call.ack(call.next());
    expect((await shared).accepted).toHaveLength(3);
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

it("shows the beginning of a key that is long, in characters that are whole", async () => {
  const subject = useNodes();
  subject.put("gold", "web", "gold");
  await connect(subject, "delta/ads", `${"k".repeat(255)}\u{1f600}${"z".repeat(5_000)}`);
  const { config } = await subject.server.clientStatus();
  expect(config.map(({ node }) => node?.metadata)).toEqual([{ "xdstp.view": "k".repeat(255) }]);
});

it("says in words that sourceFor gave a source that is not a view, and why waitForAck does not know its revisions", async () => {
  const other = readyCache();
  const subject = serve(readyCache(), { sourceFor: () => other });
  const call = subject.open("delta/ads", { id: "e1" });
  call.ask(types.cluster, ["*"]);
  await decided();
  subject.turn();
  const { revision } = other.put({
    typeUrl: types.cluster,
    name: "web",
    value: payload("web", "x"),
  });
  await expect(subject.server.waitForAck(revision)).rejects.toThrow("createNodeCaches");
  expect(subject.events).toContainEqual({
    kind: "warning",
    warning: "unrelated-source",
    message: expect.stringMatching(/"e1".*createNodeCaches/) as string,
  });
});

describe.each(adsVariants)("the order of a change that spans the layers (%s)", (variant) => {
  interface Moving extends Subject {
    readonly call: ReturnType<Harness["open"]>;
    readonly take: () => readonly string[];
  }

  /**
   * Creates a client of `gold` that has the shared cluster `old`, and the route of its key that
   * refers to it.
   */
  async function useMoving(): Promise<Moving> {
    const subject = useNodes();
    const { nodes, open, turn } = subject;
    nodes.shared.put({ typeUrl: types.cluster, name: "old", value: payload("old") });
    nodes.of("gold").put({ typeUrl: types.route, name: "r", value: routeTo("old") });
    const call = open(variant, { id: "gold-1", cluster: "gold" });
    /** Accepts responses until no more come. Returns the types with their names, in order. */
    const take = (): readonly string[] => {
      const taken: string[] = [];
      turn();
      while (call.unread > 0) {
        const response = call.next();
        taken.push(
          `${response.typeUrl === types.cluster ? "clusters" : "routes"} ${response.names.join(" ")}${response.removed.map((name) => `-${name}`).join(" ")}`,
        );
        call.ack(response);
        turn();
      }
      return taken;
    };
    call.ask(types.cluster, ["*"]);
    await decided();
    expect(take()).toEqual(["clusters old"]);
    call.ask(types.route, ["*"]);
    expect(take()).toEqual(["routes r"]);
    return { ...subject, call, take };
  }

  it(`sends a new shared cluster, then the route of the key that leads to it, and removes the old one last (${variant}) [S-ORD-1] [S-ORD-4] [S-NODE-10]`, async () => {
    const { nodes, take } = await useMoving();
    nodes.of("gold").put({ typeUrl: types.route, name: "r", value: routeTo("new") });
    nodes.shared.transaction((write) => {
      write.put({ typeUrl: types.cluster, name: "new", value: payload("new") });
      write.remove(types.cluster, "old");
    });
    const taken = take();
    expect(taken.findIndex((one) => one.includes("new"))).toBeLessThan(taken.indexOf("routes r"));
    expect(taken.at(-1)).toBe(variant === "delta/ads" ? "clusters -old" : "clusters new");
    expect(taken.indexOf("routes r")).toBeLessThan(taken.length - 1);
  });
});

describe("a fetch from caches per node", () => {
  it("reports what is too large with the view of the client, as a stream does [S-SIZE-3] [S-NODE-10]", async () => {
    const nodes = createNodeCaches({ types: envoyTypes, keyOf: ({ cluster }) => cluster });
    nodes.shared.commit({});
    nodes.of("gold").put({
      typeUrl: types.cluster,
      name: "giant",
      value: payload("giant", "x".repeat(900)),
    });
    nodes.of("gold").put({ typeUrl: types.cluster, name: "a", value: payload("a") });
    const { server, events } = serve(nodes.serving.source, {
      ...nodes.serving,
      limits: { stream: { fullStateBytes: 600 } },
    });
    await server.fetch(types.cluster, { node: { id: "gold-1", cluster: "gold" } });
    const [notSent] = events.filter((event) => event.kind === "not-sent");
    expect(notSent).toMatchObject({ resources: [{ name: "giant" }] });
    expect(notSent?.stream.viewKey).toBe("gold");
  });
});
