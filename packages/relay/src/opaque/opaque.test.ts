import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld, type RelayWorld } from "../../test/relay-world.ts";
import { anyOf, type WireResource } from "../../../rollout/test/wire-bytes.ts";
import type { NodeInit, WorldClient } from "../../../rollout/test/world-client.ts";

const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const FAILED_PRECONDITION = 9;
const RESOURCE_EXHAUSTED = 8;

const eventsOf = ({ events }: RelayWorld, kind: string): readonly object[] =>
  events.filter((event) => event.kind === kind);

describe("opaque names without a key", () => {
  it.each(["delta", "sotw"] as const)(
    "are rejected with the rule and the way out, and upstream is not asked (%s) [B-RELAY-2]",
    async (variant) => {
      const world = useWorld();
      const client = world.connect(variant);
      client.ask(flagUrl, "a", flagName("b"));
      await world.settle();
      const [rejected] = client.take();
      expect(rejected).toMatchObject({
        resources: [],
        removed: [],
        errors: [{ name: "a", code: FAILED_PRECONDITION }],
      });
      expect(rejected?.errors[0]?.text).toMatch(/a relay shares its cache.*opaqueKey/);
      expect(world.up.requests().map(({ names }) => names)).toEqual([[flagName("b")]]);
      expect(eventsOf(world, "opaque-rejected")).toMatchObject([
        { typeUrl: flagUrl, names: ["a"] },
      ]);
      world.up.reply(flagUrl, { resources: [{ name: flagName("b"), text: "1" }] });
      await world.settle();
      expect(client.take().map(({ shown }) => shown)).toEqual([["b=1"]]);
    },
  );

  it.each(["delta", "sotw"] as const)(
    "leave `*` without an answer, so that an Envoy that is pointed here by mistake loses nothing (%s) [B-RELAY-2]",
    async (variant) => {
      const world = useWorld();
      const client = world.connect(variant);
      client.ask(clusterUrl);
      await world.settle();
      await world.pass(600_000);
      expect([client.read(), client.closed, world.upstreams.flatMap(({ calls }) => calls)]).toEqual(
        [[], undefined, []],
      );
      expect(eventsOf(world, "opaque-rejected")).toMatchObject([
        { typeUrl: clusterUrl, names: ["*"] },
      ]);
    },
  );

  it("are explained with the reason to a client of `*`, also after a server upstream has answered [B-RELAY-2]", async () => {
    const world = useWorld();
    const client = world.connect("delta", { id: "n" });
    client.ask(clusterUrl);
    client.ask(flagUrl, flagName("b"));
    await world.settle();
    const explained = async (): Promise<string> =>
      (await world.server.explain({ node: "n", typeUrl: clusterUrl, name: "web" })).text;
    const text =
      /^n does not have web: it is not known whether it exists\. The source reports: a relay shares its cache.*opaqueKey.*\.$/;
    expect(await explained()).toMatch(text);
    world.up.reply(flagUrl, { resources: [{ name: flagName("b"), text: "1" }] });
    await world.settle();
    expect(await explained()).toMatch(text);
  });
});

describe("clusters and listeners by opaque names, without a key, over SotW", () => {
  const xdstpCluster = "xdstp://acme/envoy.config.cluster.v3.Cluster/b";
  const payload = (name: string): Uint8Array => anyOf(clusterUrl, lengthDelimited(1, name));
  const useAsked = async (
    node: NodeInit,
    versionInfo: string,
    ...resourceNames: readonly string[]
  ): Promise<RelayWorld & { readonly client: WorldClient }> => {
    const world = useWorld();
    const client = world.connect("sotw", node);
    client.send({ typeUrl: clusterUrl, ...{ resourceNames, versionInfo } });
    await world.settle();
    if (resourceNames.includes(xdstpCluster))
      world.up.reply(clusterUrl, {
        resources: [{ name: xdstpCluster, version: "1", any: payload(xdstpCluster) }],
      });
    await world.settle();
    return Object.assign(world, { client });
  };

  it.each([
    ["has come with a version", "of before", ["a", xdstpCluster]],
    ["has come with a version, and asks for nothing else", "of before", ["a"]],
    ["asks for nothing else", "", ["a"]],
  ] as const)(
    "stay pending for a client that is not known to read errors and %s: a full state without them would delete them; why is in the event and in the status [B-RELAY-2] [B-ERR-6]",
    async (_, version, names) => {
      const world = await useAsked({ id: "envoy", userAgentName: "envoy" }, version, ...names);
      await world.pass(600_000);
      expect([world.client.read(), world.client.closed]).toEqual([[], undefined]);
      expect(eventsOf(world, "opaque-rejected")).toMatchObject([
        { typeUrl: clusterUrl, names: ["a"] },
      ]);
      const status = await world.server.clientStatus();
      const rows =
        "config" in status
          ? status.config.flatMap(({ genericXdsConfigs }) => genericXdsConfigs)
          : [];
      expect(rows.find(({ name }) => name === "a")?.errorState?.details).toMatch(
        /a relay shares its cache.*opaqueKey/,
      );
    },
  );

  it("are answered as soon as the client asks for them no more [B-RELAY-2] [B-ERR-6]", async () => {
    const world = await useAsked(
      { id: "envoy", userAgentName: "envoy" },
      "of before",
      "a",
      xdstpCluster,
    );
    world.client.send({
      typeUrl: clusterUrl,
      ...{ resourceNames: [xdstpCluster], versionInfo: "of before" },
    });
    await world.settle();
    expect(world.client.take().map(({ resources }) => resources.map(({ any }) => any))).toEqual([
      [payload(xdstpCluster)],
    ]);
  });

  it("are left out for a client that holds nothing and asks for what exists, and their errors are told [B-RELAY-2] [S-ERR-1]", async () => {
    const world = await useAsked({ id: "envoy", userAgentName: "envoy" }, "", "a", xdstpCluster);
    expect(
      world.client
        .take()
        .map(({ resources, errors }) => [
          resources.map(({ any }) => any),
          errors.map(({ name, code }) => [name, code]),
        ]),
    ).toEqual([[[payload(xdstpCluster)], [["a", FAILED_PRECONDITION]]]]);
  });

  it.each([
    ["@xdstp/client", "xdstp"],
    ["gRPC C-core", "gRPC C-core"],
  ])(
    "are errors at once for %s, which reads them [B-RELAY-2] [S-ERR-1]",
    async (_, userAgentName) => {
      const world = await useAsked({ id: "reader", userAgentName }, "of before", "a");
      expect(
        world.client
          .take()
          .map(({ resources, errors }) => [
            resources,
            errors.map(({ name, code }) => [name, code]),
          ]),
      ).toEqual([[[], [["a", FAILED_PRECONDITION]]]]);
    },
  );
});

it("a `*` that is not answered covers nothing: what others have asked for is not kept for it [B-RELAY-2] [B-RELAY-10]", async () => {
  const world = useWorld();
  const [pending, other] = [world.connect("delta"), world.connect("delta")];
  pending.ask(flagUrl, "*");
  other.ask(flagUrl, flagName("x"));
  await world.settle();
  world.up.reply(flagUrl, { resources: [{ name: flagName("x"), text: "1" }] });
  await world.settle();
  expect([pending.read(), other.take().map(({ shown }) => shown)]).toEqual([[], [["x=1"]]]);
  other.stream.cancel();
  await world.pass(60_000);
  expect(world.relay.cache.counters.resources).toBe(0);
});

describe("opaque names with a key", () => {
  it.each(["delta", "sotw"] as const)(
    "are shared by all clients where the key has no field (%s) [B-RELAY-2] [B-RELAY-4]",
    async (variant) => {
      const world = useWorld({ relay: { opaqueKey: [] } });
      const [one, other] = [
        world.connect(variant, { id: "one" }),
        world.connect(variant, { id: "other" }),
      ];
      for (const client of [one, other]) client.ask(flagUrl, "a");
      await world.settle();
      world.up.reply(flagUrl, { resources: [{ name: "a", text: "1" }] });
      await world.settle();
      expect([one, other].map((client) => client.take().map(({ shown }) => shown))).toEqual([
        [["a=1"]],
        [["a=1"]],
      ]);
      expect(world.up.calls).toHaveLength(1);
      expect(world.server.stats().frames).toMatchObject({ encoded: 1, shared: 1 });
      expect([world.relay.serving.sourceFor, world.relay.tenants()]).toEqual([undefined, []]);
    },
  );

  it.each(["delta", "sotw"] as const)(
    "are separate for each of its values, and xdstp names are shared by all (%s) [B-RELAY-2] [B-RELAY-4]",
    async (variant) => {
      const world = useWorld({
        upstream: variant,
        relay: { opaqueKey: ["cluster", "locality.zone", "metadata.team.name"] },
      });
      const node = (id: string, cluster: string): object => ({
        id,
        cluster,
        locality: { region: "eu", zone: "z1" },
        metadata: { team: { name: "blue", size: 3 }, secret: "hush" },
      });
      const clients = [
        world.connect(variant, node("c1", "web")),
        world.connect(variant, node("c2", "web")),
        world.connect(variant, node("c3", "db")),
      ];
      for (const client of clients) client.ask(flagUrl, "a", flagName("x"));
      await world.settle();
      const names = world.up.calls.map((call) =>
        call.requests().map((request) => ({
          names: request.names,
          node: Buffer.from(request.bytes).toString("latin1"),
        })),
      );
      expect(names.flat().map((request) => request.names)).toEqual([["a"], [flagName("x")], ["a"]]);
      const nodes = names.flat().map((request) => request.node);
      expect(
        nodes.map((text) =>
          ["relay", "relays", "web", "db", "z1", "blue", "own", "c1", "eu", "size", "hush"].filter(
            (word) => text.includes(word),
          ),
        ),
      ).toEqual([
        ["relay", "web", "z1", "blue", "own"],
        ["relay", "relays", "own"],
        ["relay", "db", "z1", "blue", "own"],
      ]);
      const [web, shared, db] = world.up.calls;
      shared?.reply(flagUrl, { resources: [{ name: flagName("x"), text: "for all" }] });
      web?.reply(flagUrl, { resources: [{ name: "a", text: "of web" }] });
      db?.reply(flagUrl, { resources: [{ name: "a", text: "of db" }] });
      await world.settle();
      expect(
        clients.map((client) =>
          client
            .take()
            .flatMap(({ shown }) => shown)
            .toSorted(),
        ),
      ).toEqual([
        ["a=of web", "x=for all"],
        ["a=of web", "x=for all"],
        ["a=of db", "x=for all"],
      ]);
      expect(world.relay.tenants().map(({ values }) => values.cluster)).toEqual(["web", "db"]);
      // A resource of all clients is sent in one frame, and a resource of two clients in another
      // one. The third stream has a frame of its own.
      shared?.reply(flagUrl, { resources: [{ name: flagName("x"), text: "news", version: "2" }] });
      const before = world.server.stats().frames;
      await world.settle();
      expect(clients.map((client) => client.take().map(({ shown }) => shown))).toEqual([
        [["x=news"]],
        [["x=news"]],
        [["x=news"]],
      ]);
      expect(world.server.stats().frames).toMatchObject({
        encoded: before.encoded + 1,
        shared: before.shared + 2,
      });
    },
  );

  it("`*` is that of the key [B-RELAY-2]", async () => {
    const world = useWorld({ relay: { opaqueKey: ["cluster"] } });
    const [web, db] = ["web", "db"].map((cluster) =>
      world.connect("delta", { id: "same", cluster }),
    );
    for (const client of [web, db]) client?.ask(clusterUrl, "*");
    await world.settle();
    world.up.calls[0]?.reply(clusterUrl, { resources: [{ name: "w", text: "1" }] });
    world.up.calls[1]?.reply(clusterUrl, { resources: [{ name: "d", text: "1" }] });
    await world.pass(200);
    expect([web, db].map((client) => client?.take().flatMap(({ shown }) => shown))).toEqual([
      ["w=1"],
      ["d=1"],
    ]);
    // A change of one cache does not affect what was sent from another one.
    for (const name of ["w2", "w3"]) {
      world.up.calls[0]?.reply(clusterUrl, { resources: [{ name, text: "1" }] });
      await world.settle();
      expect([web, db].map((client) => client?.take().flatMap(({ shown }) => shown))).toEqual([
        [`${name}=1`],
        [],
      ]);
    }
  });

  it.each(["delta", "sotw"] as const)(
    "an xdstp name that `*` covers too is in each response once, and goes when both say so (%s) [B-RELAY-2]",
    async (variant) => {
      const world = useWorld({ upstream: "delta", relay: { opaqueKey: ["cluster"] } });
      const client = world.connect(variant, { id: "c", cluster: "web" });
      const both = "xdstp://acme/envoy.config.cluster.v3.Cluster/both";
      client.ask(clusterUrl, "*", both);
      await world.settle();
      const names = async (): Promise<readonly (readonly string[])[]> => {
        await world.pass(200);
        return client.take().map(({ resources, removed }) =>
          [
            ...resources.map(
              ({ any }) =>
                Buffer.from(any ?? [])
                  .toString()
                  .split("/")
                  .at(-1) ?? "",
            ),
            ...removed.map((name) => `-${name.slice(-4)}`),
          ].toSorted(),
        );
      };
      for (const text of ["1", "2"]) {
        const value = (name: string): WireResource => ({
          name,
          version: text,
          any: anyOf(
            clusterUrl,
            concatBytes([lengthDelimited(1, name), lengthDelimited(4_000, `/${text}`)]),
          ),
        });
        world.up.calls[0]?.reply(clusterUrl, {
          version: text,
          resources: [value("own"), value(both)],
        });
        world.up.calls[1]?.reply(clusterUrl, { version: text, resources: [value(both)] });
        const answers = await names();
        expect(answers.every((answer) => answer.length <= 2)).toBe(true);
        expect(answers.at(-1)?.every((one) => one === text)).toBe(true);
      }
      world.up.calls[0]?.reply(clusterUrl, { removed: [both] });
      world.up.calls[1]?.reply(clusterUrl, { removed: [both] });
      expect((await names()).at(-1)).toEqual([variant === "delta" ? "-both" : "2"]);
    },
  );

  it("tenants end with their streams when nobody has wanted anything of them for as long as that lingers, and come back [B-RELAY-2] [B-RELAY-8]", async () => {
    const world = useWorld({ relay: { opaqueKey: ["cluster"] } });
    const client = world.connect("delta", { id: "c", cluster: "web" });
    client.ask(flagUrl, "a");
    await world.settle();
    world.up.reply(flagUrl, { resources: [{ name: "a", text: "1" }] });
    await world.settle();
    client.take();
    client.leave(flagUrl, "a");
    await world.pass(59_000);
    expect(world.relay.tenants()).toHaveLength(1);
    await world.pass(1_000);
    expect([world.relay.tenants(), world.up.stream.closed]).toMatchObject([[], { code: 1 }]);
    client.ask(flagUrl, "a");
    await world.settle();
    world.up.reply(flagUrl, { resources: [{ name: "a", text: "2" }] });
    await world.settle();
    expect(client.take().map(({ shown }) => shown)).toEqual([["a=2"]]);
    expect(world.up.calls).toHaveLength(2);
  });

  it("are rejected to more kinds of clients than there may be, until one has ended; xdstp names are not [B-RELAY-2]", async () => {
    const world = useWorld({ relay: { opaqueKey: ["id"], maxTenants: 1 } });
    const first = world.connect("delta", { id: "one" });
    first.ask(flagUrl, "a");
    await world.settle();
    const second = world.connect("delta", { id: "two" });
    second.ask(flagUrl, "a", flagName("x"));
    await world.settle();
    expect(second.take()).toMatchObject([
      { removed: [], errors: [{ name: "a", code: RESOURCE_EXHAUSTED }] },
    ]);
    expect(eventsOf(world, "tenant-rejected")).toMatchObject([{ values: { id: "two" } }]);
    expect(world.relay.tenants().map(({ waiting }) => waiting)).toEqual([false, true]);
    world.up.calls[1]?.reply(flagUrl, { resources: [{ name: flagName("x"), text: "1" }] });
    await world.settle();
    expect(second.take().map(({ shown }) => shown)).toEqual([["x=1"]]);
    first.stream.cancel();
    await world.pass(60_000);
    expect(world.up.calls).toHaveLength(3);
    world.up.reply(flagUrl, { resources: [{ name: "a", text: "at last" }] });
    await world.settle();
    expect(second.take().map(({ shown }) => shown)).toEqual([["a=at last"]]);
  });

  it("a stream that only asks for xdstp names makes no tenant, nor does who only looks [B-RELAY-2]", async () => {
    const world = useWorld({ relay: { opaqueKey: ["id"] } });
    const client = world.connect("delta", { id: "one" });
    client.ask(flagUrl, flagName("x"));
    await world.settle();
    world.relay.serving
      .sourceFor?.({
        node: {
          id: "two",
          cluster: "",
          userAgentName: "",
          userAgentVersion: "",
          locality: "",
          clientFeatures: [],
        },
      })
      .topic(flagUrl, { name: "a" });
    await world.settle();
    expect([world.relay.tenants(), world.up.calls.length]).toEqual([[], 1]);
  });

  it("client status and status show the clients of all keys [B-RELAY-2] [B-CSDS-1]", async () => {
    const world = useWorld({ relay: { opaqueKey: ["id"] } });
    for (const id of ["one", "two"]) world.connect("delta", { id }).ask(flagUrl, "a");
    await world.settle();
    for (const call of world.up.calls)
      call.reply(flagUrl, { resources: [{ name: "a", text: "1" }] });
    await world.settle();
    const { config } = await world.server.clientStatus(
      { excludeResourceContents: true },
      { peer: { address: "192.0.2.9:1" } },
    );
    expect(
      config.map(({ node, genericXdsConfigs }) => [
        node?.id,
        genericXdsConfigs.map(({ name }) => name),
      ]),
    ).toEqual([
      ["one", ["a"]],
      ["two", ["a"]],
    ]);
    expect(world.server.status().map(({ node }) => node?.id)).toEqual(["one", "two"]);
  });

  it("a Fetch is answered as a stream is: by key, and without one not at all [B-RELAY-2] [S-REST-9]", async () => {
    const world = useWorld({ relay: { opaqueKey: ["id"] } });
    const fetched = world.server.fetch(
      clusterUrl,
      { node: { id: "one" }, resourceNames: ["a"] },
      { peer: { address: "192.0.2.9:1" } },
    );
    await world.settle();
    world.up.reply(clusterUrl, { resources: [{ name: "a", text: "1" }] });
    await world.settle();
    expect((await fetched).resources).toHaveLength(1);
    const plain = useWorld();
    const pending = plain.server.fetch(clusterUrl, { node: { id: "one" } }).then(
      () => "answered",
      (error: unknown) => String(error),
    );
    await plain.pass(60_000);
    expect(await pending).toMatch(/UNAVAILABLE/);
  });

  it("whoever waits for the ACKs of a change waits for the clients of all keys [B-RELAY-2]", async () => {
    const world = useWorld({ relay: { opaqueKey: ["id"] } });
    const clients = ["one", "two"].map((id) => world.connect("delta", { id }));
    for (const client of clients) client.ask(flagUrl, flagName("x"));
    await world.settle();
    world.up.reply(flagUrl, { resources: [{ name: flagName("x"), text: "1" }] });
    await world.settle();
    const waiting = world.server.waitForAck(world.relay.source.revision);
    for (const client of clients) client.take();
    await world.settle();
    expect((await waiting).accepted.map(({ node }) => node)).toEqual(["one", "two"]);
  });

  it("a server that does not ask who comes rejects them: they are shared with nobody by mistake [B-RELAY-2]", async () => {
    const world = useWorld({
      relay: { opaqueKey: ["id"] },
      server: { sourceFor: () => undefined },
    });
    const client = world.connect("delta", { id: "one" });
    client.ask(flagUrl, "a", flagName("x"));
    await world.settle();
    expect(client.take()).toMatchObject([{ errors: [{ name: "a", code: FAILED_PRECONDITION }] }]);
    expect([world.relay.tenants(), world.up.requests().map(({ names }) => names)]).toEqual([
      [],
      [[flagName("x")]],
    ]);
  });

  it("a client that comes back to a tenant which has ended hears what has changed, and nothing of what has not [B-RELAY-2] [S-RECON-4]", async () => {
    const world = useWorld({ relay: { opaqueKey: ["cluster"] } });
    const node = { id: "c", cluster: "web" };
    const first = world.connect("delta", node);
    first.ask(flagUrl, "same", "changed", "gone");
    await world.settle();
    world.up.reply(flagUrl, {
      resources: ["same", "changed", "gone"].map((name) => ({ name, text: "1", version: "1" })),
    });
    await world.settle();
    expect(first.take().flatMap(({ shown }) => shown)).toHaveLength(3);
    first.stream.cancel();
    await world.pass(120_000);
    expect(world.relay.tenants()).toEqual([]);
    const again = world.connect("delta", node);
    again.send({
      typeUrl: flagUrl,
      ...{
        resourceNamesSubscribe: ["same", "changed", "gone"],
        initialResourceVersions: { same: "1", changed: "1", gone: "1" },
      },
    });
    await world.settle();
    world.up.reply(flagUrl, {
      resources: [
        { name: "same", text: "1", version: "1" },
        { name: "changed", text: "2", version: "2" },
      ],
      removed: ["gone"],
    });
    await world.settle();
    expect(again.take().map(({ shown, removed }) => [shown, removed])).toEqual([
      [["changed=2"], ["gone"]],
    ]);
  });

  it.each([0, Number.NaN])("there may be one tenant at least, not %d", (maxTenants) => {
    expect(() => useWorld({ relay: { maxTenants } })).toThrow(/maxTenants is .*give 1 or more/);
  });

  it("storms of kinds of clients come in as others leave, each in its turn [B-RELAY-2]", async () => {
    const world = useWorld({ relay: { opaqueKey: ["id"], maxTenants: 3 } });
    const clients = Array.from({ length: 7 }, (_, index) =>
      world.connect("delta", { id: `c${index}` }),
    );
    for (const client of clients) client.ask(flagUrl, "a");
    await world.settle();
    const asked = (): readonly unknown[] =>
      world.relay.tenants().flatMap(({ values, waiting }) => (waiting ? [] : [values.id]));
    expect(asked()).toEqual(["c0", "c1", "c2"]);
    for (const client of clients.slice(1, 5)) client.stream.cancel();
    await world.pass(60_000);
    expect(asked()).toEqual(["c0", "c5", "c6"]);
    for (const client of clients) client.stream.cancel();
    await world.pass(60_000);
    expect(world.relay.tenants()).toEqual([]);
  });

  it.each([
    ["cluster", ""],
    ["a field that is none", "user_agent_version"],
    ["metadata without a key", "metadata"],
    ["an inherited name", "constructor"],
  ])("a key has to be fields of a node: %s", (_, field) => {
    expect(() => useWorld({ relay: { opaqueKey: [field] } })).toThrow(
      /opaqueKey: a node has no field.*there are id, cluster/,
    );
  });
});
