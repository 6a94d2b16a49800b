import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld } from "../../test/relay-world.ts";

const ways = (["delta", "sotw"] as const).flatMap((upstream) =>
  (["delta", "sotw"] as const).map((downstream) => [upstream, downstream] as const),
);
const name = flagName("a");

describe.each(ways)("%s upstream, %s downstream", (upstream, downstream) => {
  it("upstream has its ACK as soon as the relay holds the response, whatever clients do [B-RELAY-5]", async () => {
    const world = useWorld({ upstream });
    const client = world.connect(downstream);
    client.ask(flagUrl, name);
    await world.settle();
    world.up.requests();
    const nonce = world.up.reply(flagUrl, { resources: [{ name, text: "1" }] });
    await world.settle();
    expect(client.stream.unread).toBe(1);
    expect(world.up.requests().map((request) => [request.nonce, request.error])).toEqual([
      [nonce, undefined],
    ]);
  });

  it("a client that rejects keeps to itself: upstream hears nothing, the others go on, and it gets the next state [B-RELAY-5]", async () => {
    const world = useWorld({ upstream });
    const [bad, good] = [
      world.connect(downstream, { id: "bad" }),
      world.connect(downstream, { id: "good" }),
    ];
    for (const client of [bad, good]) client.ask(flagUrl, name);
    await world.settle();
    world.up.reply(flagUrl, { resources: [{ name, text: "1" }] });
    await world.settle();
    world.up.requests();
    good.take();
    for (const answer of bad.read()) bad.nack(answer, "no such flag");
    await world.pass(120_000);
    expect(world.up.requests()).toEqual([]);
    expect(world.served.filter(({ kind }) => kind === "nack")).toMatchObject([
      { typeUrl: flagUrl, stream: { node: { id: "bad" } }, error: { message: "no such flag" } },
    ]);
    expect(
      world.server
        .status()
        .map(({ node, types }) => [node?.id, types.map(({ state, nacks }) => [state, nacks])]),
    ).toEqual([
      ["bad", [["NACKED", 1]]],
      ["good", [["SYNCED", 0]]],
    ]);
    const nonce = world.up.reply(flagUrl, { version: "2", resources: [{ name, text: "2" }] });
    await world.settle();
    expect([bad, good].map((client) => client.take().map(({ shown }) => shown))).toEqual([
      [["a=2"]],
      [["a=2"]],
    ]);
    expect(world.up.requests().map((request) => [request.nonce, request.error])).toEqual([
      [nonce, undefined],
    ]);
    expect(
      world.server.status().map(({ types }) => types.map(({ state, nacks }) => [state, nacks])),
    ).toEqual([[["SYNCED", 1]], [["SYNCED", 0]]]);
  });

  it.each([{}, { opaqueKey: [] }, { opaqueKey: ["id"] }])(
    "what clients reject is counted by resource and version, once for each of them, and told by client status, with %j [B-RELAY-5]",
    async (options) => {
      const world = useWorld({ upstream, relay: options });
      const clients = ["n1", "n1", "n2"].map((id) => world.connect(downstream, { id }));
      for (const client of clients) client.ask(flagUrl, name);
      await world.settle();
      world.up.reply(flagUrl, { resources: [{ name, text: "1", version: "v1" }] });
      await world.settle();
      for (const [at, client] of clients.entries())
        for (const answer of client.read()) client.nack(answer, `no such flag, says ${at}`);
      await world.settle();
      const [rejected] = world.relay.rejections();
      expect(rejected).toEqual({
        typeUrl: flagUrl,
        name,
        version: rejected?.version,
        clients: 2,
        by: ["n1", "n2"],
        among: 1,
        reason: "no such flag, says 0",
        since: world.clock.now(),
      });
      expect(world.events.filter(({ kind }) => kind === "resource-rejected")).toEqual(
        [
          ["n1", 0],
          ["n2", 2],
        ].map(([client, says]) => ({
          kind: "resource-rejected",
          typeUrl: flagUrl,
          name,
          version: rejected?.version,
          client,
          among: 1,
          reason: `no such flag, says ${says}`,
        })),
      );
      const { config } = await world.server.clientStatus(
        { node: { clientFeatures: ["xdstp.status.rejections"] } },
        { peer: { address: "192.0.2.1:1" } },
      );
      expect(config.at(-1)).toMatchObject({
        clientScope: "xdstp.status.rejections",
        genericXdsConfigs: [
          { name, errorState: { details: "no such flag, says 0", versionInfo: rejected?.version } },
        ],
      });
    },
  );

  it("a first message that is a NACK asks upstream as any other does, and its error stays here [B-RELAY-6]", async () => {
    const world = useWorld({ upstream });
    const client = world.connect(downstream);
    client.send({
      typeUrl: flagUrl,
      responseNonce: "of an earlier stream",
      errorDetail: { code: 3, message: "broken" },
      ...(downstream === "delta" ? { resourceNamesSubscribe: [name] } : { resourceNames: [name] }),
    });
    await world.settle();
    const plain = useWorld({ upstream });
    plain.connect(downstream).ask(flagUrl, name);
    await plain.settle();
    expect(world.up.requests()).toEqual(plain.up.requests());
    world.up.reply(flagUrl, { resources: [{ name, text: "1" }] });
    await world.settle();
    expect(client.take().map(({ shown }) => shown)).toEqual([["a=1"]]);
    const late = world.connect(downstream);
    late.send({
      typeUrl: flagUrl,
      responseNonce: "of an earlier stream",
      errorDetail: { code: 3, message: "broken" },
      ...(downstream === "delta" ? { resourceNamesSubscribe: [name] } : { resourceNames: [name] }),
    });
    await world.settle();
    expect([
      late.take().map(({ shown }) => shown),
      world.up.requests().map(({ error }) => error),
    ]).toEqual([[["a=1"]], [undefined]]);
  });
});

it.each(["delta", "sotw"] as const)(
  "of a full state only what was news to the client counts as rejected: %s upstream [B-RELAY-5]",
  async (upstream) => {
    const world = useWorld({ upstream });
    const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    const clusters = (text: string) => [
      { name: "xdstp://acme/envoy.config.cluster.v3.Cluster/same", text: "1", version: "1" },
      { name: "xdstp://acme/envoy.config.cluster.v3.Cluster/new", text, version: text },
    ];
    const client = world.connect("sotw", { id: "n1" });
    client.ask(clusterUrl, ...clusters("").map((one) => one.name));
    await world.settle();
    world.up.reply(clusterUrl, { resources: clusters("1") });
    await world.settle();
    client.take();
    world.up.reply(clusterUrl, { version: "2", resources: clusters("2") });
    await world.settle();
    for (const answer of client.read()) {
      expect(answer.resources).toHaveLength(2);
      client.nack(answer, "bad");
    }
    await world.settle();
    expect(world.relay.rejections()).toMatchObject([
      { name: clusters("")[1]?.name, clients: 1, among: 1, reason: "bad" },
    ]);
  },
);
