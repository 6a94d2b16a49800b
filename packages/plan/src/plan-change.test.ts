import { create, type JsonObject, toBinary } from "@bufbuild/protobuf";
import type { Put } from "@xdstp/core";
import { NodeSchema } from "@xdstp/protos/discovery";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { CollectionEntrySchema, ListCollectionSchema } from "@xdstp/protos/xds";
import { createServer, type XdsServer } from "@xdstp/server";
import { createCache } from "@xdstp/cache";
import { describe, expect, it } from "vitest";

import { openSocketClient, type } from "../test/socket-client.ts";
import { useServer } from "../test/use-server.ts";
import { type ClientGroup, planChange, plannedResource, readServed } from "./index.ts";

const registry = envoyRegistry();
const ads = { ads: {}, resourceApiVersion: "V3" };

function put(typeUrl: string, name: string, json: JsonObject): Put {
  return {
    typeUrl,
    resource: { name, version: "", payload: anyFromJson({ "@type": typeUrl, ...json }, registry) },
  };
}

function cluster(name: string, more: JsonObject = {}): Put {
  return put(type.clusters, name, { name, ...more });
}

function route(name: string, target: string): Put {
  const routes = [{ match: { prefix: "/" }, route: { cluster: target } }];
  const virtualHosts = [{ name: "all", domains: ["*"], routes }];
  return put(type.routes, name, { name, virtualHosts });
}

/** A group of clients that subscribes to all clusters and to these names. */
function group(
  more: Partial<ClientGroup>,
  names: Readonly<Record<string, string>> = {},
): ClientGroup {
  return {
    clients: ["e1"],
    node: create(NodeSchema, { id: "e1", userAgentName: "envoy" }),
    variant: "delta",
    subscriptions: new Map([
      [type.clusters, [{ name: "*" }]],
      ...Object.entries(names).map(([typeUrl, name]) => [typeUrl, [{ name }]] as const),
    ]),
    behind: new Map(),
    ...more,
  };
}

/** Resolves when the server has received this number of ACKs. */
async function acksOf(server: XdsServer, count: number): Promise<void> {
  let left = count;
  await new Promise<void>((resolve) => {
    server.events(({ kind }) => {
      if (kind === "ack" && --left === 0) resolve();
    });
  });
}

describe("planChange()", () => {
  it("makes one group of equal clients, and says who is sent what", async () => {
    const { server, plan } = useServer([cluster("a"), cluster("b")]);
    const { port } = await server.listen({ port: 0 });
    const accepted = acksOf(server, 6); // Of three clients, for clusters and for no listeners.
    for (const id of ["e1", "e2", "e3"]) {
      const client = await openSocketClient(port, "delta", id);
      await client.has([`${type.clusters} a`, `${type.clusters} b`]);
    }
    await accepted;
    const { groups, changes, clients, affectedClients, unchanged } = await plan([
      cluster("a", { connectTimeout: "1s" }),
      cluster("b"),
    ]);
    expect(groups).toHaveLength(1);
    expect([...(groups[0]?.clients ?? [])].sort()).toEqual(["e1", "e2", "e3"]);
    expect(groups[0]?.responses).toEqual([
      { typeUrl: type.clusters, added: [], changed: ["a"], removed: [], unchanged: 0 },
    ]);
    expect({ clients, affectedClients, unchanged }).toEqual({
      clients: 3,
      affectedClients: 3,
      unchanged: 1,
    });
    expect(changes).toMatchObject([
      {
        action: "changed",
        name: "a",
        clients: 3,
        fields: [{ path: "connectTimeout", after: "1s" }],
      },
    ]);
  });

  it("counts the clients of a view for its own resource, not for the shared one or that of a similar key", async () => {
    const place = (view: string | undefined, connectTimeout: string) =>
      plannedResource(cluster("a", { connectTimeout }), { view });
    const all = (seconds: string) =>
      [undefined, "de", "demo"].map((view, at) => place(view, `${seconds}.${at}s`));
    const groups = [undefined, "de", "demo", "other"].map((view) =>
      group({ clients: [view ?? "none"], view }),
    );
    const clientsOf = async (next: ReturnType<typeof all>) => {
      const served = { resources: all("1"), groups, hiddenStreams: 0 };
      const { changes } = await planChange({ served, next, registry });
      return changes.map(({ action, view, clientNames }) => [action, view, clientNames]);
    };
    expect(await clientsOf(all("2"))).toEqual([
      ["changed", undefined, ["none", "other"]],
      ["changed", "de", ["de"]],
      ["changed", "demo", ["demo"]],
    ]);
    const [shared = place(undefined, "3s")] = all("2");
    expect(await clientsOf([shared])).toEqual([
      ["changed", undefined, ["none", "de", "demo"]],
      ["removed", "de", ["de"]],
      ["removed", "demo", ["demo"]],
    ]);
  });

  it("drains nothing where only what is around a resource changes", async () => {
    const around = (ttlMs: number, more: JsonObject = {}) => {
      const { typeUrl, resource } = cluster("a", more);
      return [plannedResource({ typeUrl, resource: { ...resource, ttlMs } })];
    };
    const changeTo = async (next: ReturnType<typeof around>) => {
      const served = { resources: around(1_000), groups: [group({})], hiddenStreams: 0 };
      const { changes } = await planChange({ served, next, registry });
      return changes[0];
    };
    const change = await changeTo(around(2_000));
    expect(change).toMatchObject({ action: "changed", clients: 1 });
    expect(change?.fields).toEqual([{ path: "(ttl)", before: "1s", after: "2s" }]);
    expect(change).not.toHaveProperty("drains");
    expect(change).not.toHaveProperty("content");
    expect(await changeTo(around(2_000, { connectTimeout: "9s" }))).toHaveProperty("drains");
  });

  it("drains the filter chains only where nothing else of a listener changes", async () => {
    const tls = (key: string): JsonObject => ({
      name: "tls",
      typedConfig: {
        "@type":
          "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
        commonTlsContext: { tlsCertificates: [{ privateKey: { inlineString: key } }] },
      },
    });
    const chains = (name: string): JsonObject => ({
      filterChains: Array.from({ length: 1_100 }, (_, at) => ({ name: `${name} ${at}` })),
    });
    const ruleOf = async (from: JsonObject, to: JsonObject): Promise<string | undefined> => {
      const [old, next] = [from, to].map((more) => [
        plannedResource(put(type.listeners, "in", { name: "in", ...more })),
      ]);
      const served = { resources: old ?? [], groups: [], hiddenStreams: 0 };
      const { changes } = await planChange({ served, next: next ?? [], registry });
      return changes[0]?.drains?.rule;
    };
    const inChain = (key: string): JsonObject => ({
      statPrefix: "a",
      filterChains: [{ name: "a", transportSocket: tls(key) }],
    });
    expect(await ruleOf(inChain("old"), inChain("new"))).toBe("filter-chains-changed");
    expect(await ruleOf(chains("a"), chains("b"))).toBe("filter-chains-changed");
    expect(await ruleOf(chains("a"), { ...chains("b"), statPrefix: "b" })).toBe(
      "listener-replaced",
    );
    const defaultFilterChain = { name: "default" };
    expect(
      await ruleOf(
        { ...inChain("a"), defaultFilterChain },
        { statPrefix: "a", defaultFilterChain },
      ),
    ).toBe("listener-replaced");
  });

  it("shows no value of a secret", async () => {
    const secret = (key: string): Put =>
      put("type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret", "web", {
        name: "web",
        tlsCertificate: { privateKey: { inlineString: key } },
      });
    const { plan } = useServer([secret("old key")]);
    const planned = await plan([secret("new key")]);
    expect(planned.changes).toMatchObject([
      {
        action: "changed",
        fields: [],
        note: "only values that are not shown differ: secrets, or metadata",
      },
    ]);
    expect(JSON.stringify(planned)).not.toContain('key"');
  });

  it("says what waits, for what, and which response comes only after 15 s [S-ORD-2] [S-ORD-4]", async () => {
    const before = [cluster("a"), route("r", "a")];
    const eds = { type: "EDS", edsClusterConfig: { edsConfig: ads } };
    const next = [cluster("a"), cluster("b", eds), route("r", "b")].map((one) =>
      plannedResource(one),
    );
    const plan = await planChange({
      served: {
        resources: before.map((one) => plannedResource(one)),
        groups: [group({}, { [type.routes]: "r" })],
        hiddenStreams: 0,
      },
      next,
      registry,
    });
    const [{ responses, holds } = { responses: [], holds: [] }] = plan.groups;
    expect(responses.map(({ typeUrl, afterMs }) => [typeUrl, afterMs])).toEqual([
      [type.clusters, undefined],
      [type.routes, 15_000],
    ]);
    expect(holds).toContainEqual({
      typeUrl: type.routes,
      name: "r",
      forType: type.clusters,
      for: "b",
      until: 1,
    });
  });

  it.each(["delta", "sotw"] as const)(
    "follows a list for clients that subscribe to it and to its members (%s)",
    async (variant) => {
      const listUrl = "type.googleapis.com/envoy.config.cluster.v3.ClusterCollection";
      const list = "xdstp://a/envoy.config.cluster.v3.ClusterCollection/all";
      const member = (id: string): string => `xdstp://a/envoy.config.cluster.v3.Cluster/${id}`;
      const listOf = (...ids: readonly string[]): Put => ({
        typeUrl: listUrl,
        resource: {
          name: list,
          version: "",
          payload: {
            typeUrl: listUrl,
            value: toBinary(
              ListCollectionSchema,
              create(ListCollectionSchema, {
                entries: ids.map((id) =>
                  create(CollectionEntrySchema, {
                    resourceSpecifier: {
                      case: "locator",
                      value: {
                        authority: "a",
                        resourceType: "envoy.config.cluster.v3.Cluster",
                        id,
                      },
                    },
                  }),
                ),
              }),
            ),
          },
        },
      });
      const before = [listOf("x", "y"), cluster(member("x")), cluster(member("y"))];
      const next = [
        listOf("x", "z"),
        cluster(member("x"), { connectTimeout: "1s" }),
        cluster(member("y")),
        cluster(member("z")),
      ];
      const plan = await planChange({
        served: {
          resources: before.map((one) => plannedResource(one)),
          groups: [
            group({
              variant,
              node: create(NodeSchema, {
                id: "c1",
                userAgentName: "own",
                clientFeatures: ["xds.config.resource-in-sotw"],
              }),
              subscriptions: new Map([
                [listUrl, [{ name: list }]],
                [type.clusters, [{ name: member("x") }, { name: member("y") }]],
              ]),
            }),
          ],
          hiddenStreams: 0,
        },
        next: next.map((one) => plannedResource(one)),
        registry,
      });
      const [{ responses, follows } = { responses: [], follows: [] }] = plan.groups;
      expect(follows).toContain(type.clusters);
      const names = (pick: "added" | "changed"): readonly string[] =>
        responses.flatMap((response) => [...response[pick]]);
      expect(names("changed").toSorted()).toEqual([list, member("x")].toSorted());
      expect(names("added")).toEqual([member("z")]);
    },
  );

  it("rejects what a server would reject", async () => {
    const next = [put(type.clusters, "xdstp://other/envoy.config.cluster.v3.Cluster/a", {})];
    await expect(
      planChange({
        served: { resources: [], groups: [group({})], hiddenStreams: 0 },
        next: next.map((one) => plannedResource(one)),
        registry,
        authorities: ["example.com"],
      }),
    ).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("notes what it supposes of clients that are behind", async () => {
    const plan = await planChange({
      served: {
        resources: [],
        groups: [group({ behind: new Map([[type.clusters, "rejected"]]) })],
        hiddenStreams: 2,
      },
      next: [plannedResource(cluster("a"))],
      registry,
    });
    expect(plan.groups[0]?.notes).toEqual([
      "it rejects some of what it was sent; the plan supposes that it accepts that first",
    ]);
    expect(plan.notes).toEqual(["streams that this caller may not see are not planned: 2"]);
  });

  it("plans for 100,000 names and 10,000 equal clients in seconds", async () => {
    const names = Array.from({ length: 100_000 }, (_, at) => `c${at}`);
    const puts = names.map((name) => cluster(name));
    const { server } = useServer(puts);
    const next = [...puts.slice(1), cluster("c0", { connectTimeout: "1s" })].map((one) =>
      plannedResource(one),
    );
    const began = performance.now();
    const served = await readServed(async (request) => server.clientStatus(request), next);
    const clients = Array.from({ length: 10_000 }, (_, at) => `e${at}`);
    const plan = await planChange({
      served: { ...served, groups: [group({ clients }), group({ variant: "sotw" })] },
      next,
      registry,
    });
    const ms = performance.now() - began;
    expect(plan.changes).toHaveLength(1);
    expect(plan.affectedClients).toBe(10_001);
    expect(plan.groups[1]?.responses).toMatchObject([{ changed: ["c0"], unchanged: 99_999 }]);
    // Much less on an idle machine.
    expect(ms).toBeLessThan(30_000);
  }, 60_000);
});

describe("readServed()", () => {
  it("says that a server does not list what it serves", async () => {
    const server = createServer({ source: createCache() });
    await expect(
      readServed(async (request) => server.clientStatus(request), []),
    ).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      text: expect.stringContaining("does not list what it serves to this caller") as unknown,
    });
    await expect(readServed(async () => Promise.resolve({ config: [] }), [])).rejects.toMatchObject(
      {
        text: expect.stringContaining("only an `xdstp serve`") as unknown,
      },
    );
    await server.close();
  });

  it("rejects where the content changes between its requests", async () => {
    const { server, nodes } = useServer([cluster("a")]);
    let calls = 0;
    const next = [plannedResource(cluster("a", { connectTimeout: "1s" }))];
    await expect(
      readServed(async (request) => {
        if (++calls === 2) nodes.shared.commit({ put: [cluster("a", { connectTimeout: "2s" })] });
        return server.clientStatus(request);
      }, next),
    ).rejects.toMatchObject({ code: "ABORTED" });
  });
});
