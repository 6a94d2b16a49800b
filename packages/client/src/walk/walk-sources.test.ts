import { configSourceReader, readConfigSource } from "@xdstp/bootstrap/envoy";
import { ListenerSchema } from "@xdstp/protos/envoy/listener";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { ScopedRouteConfigurationSchema } from "@xdstp/protos/envoy/route";
import type { RawResource } from "@xdstp/cache";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import {
  cluster,
  endpoints,
  listener,
  routes,
  scopedListener,
  scopedRoutes,
  srdsListener,
  type Json,
} from "../../test/envoy-resources.ts";
import { parts as types } from "../../test/envoy-parts.ts";
import { useClient, useOrigin, type Origin } from "../../test/use-origin.ts";
import type { ClientNotice, Configuration, PartTypes, Walk } from "../index.ts";

const from = ({ uri }: Origin, ...authorities: readonly string[]): Json => ({
  api_config_source: {
    api_type: "AGGREGATED_DELTA_GRPC",
    transport_api_version: "V3",
    grpc_services: [{ google_grpc: { target_uri: uri, stat_prefix: "x" } }],
  },
  ...(authorities.length > 0 && { authorities: authorities.map((name) => ({ name })) }),
});

/** Adds these resources to those that are served. */
function put({ cache }: Origin, ...resources: readonly RawResource[]): void {
  cache.transaction((writer) => {
    for (const resource of resources) writer.put(resource);
  });
}

/** Returns the next configuration for which `holds` returns true. */
async function until<R, P extends PartTypes>(
  walk: Walk<R, P>,
  holds: (given: Configuration<R, P>) => boolean,
): Promise<Configuration<R, P>> {
  const updates = walk[Symbol.asyncIterator]();
  for (;;) {
    const { value } = await updates.next();
    if (value === undefined) throw new Error("the walk has ended");
    if (holds(value)) return value;
  }
}

/** Returns the port of the endpoints of each service. */
function portsOf({ parts }: Configuration<unknown, typeof types>): readonly string[] {
  return [...parts.endpoints].map(([name, { value }]) => {
    const address = value.endpoints[0]?.lbEndpoints[0]?.hostIdentifier.value;
    return `${name} ${/"case":"portValue","value":(\d+)/.exec(JSON.stringify(address))?.[1] ?? "?"}`;
  });
}

/** Returns the rejected names, each once. */
function rejectedOf(events: readonly ClientNotice[]): readonly string[] {
  return [
    ...new Set(
      events.flatMap((event) =>
        event.kind === "rejected" ? event.names.map(({ name }) => name) : [],
      ),
    ),
  ];
}

const sourceOf = configSourceReader();
const withScopes = { ...types, scopes: ScopedRouteConfigurationSchema };
const isWhole = ({ root, pending }: Configuration<unknown, PartTypes>): boolean =>
  root !== undefined && pending.length === 0;

describe("a walk through ConfigSources", () => {
  it("asks each for what is named beside it, and mixes nothing that has the same name [C-AUTH-4, C-AUTH-6]", async () => {
    const [main, other] = [await useOrigin(), await useOrigin()];
    put(
      main,
      listener("l", "r"),
      routes("r", "a", "b"),
      cluster("a", { service: "s", from: from(other) }),
      cluster("b", { service: "t" }),
      endpoints("s", 1),
      endpoints("t", 2),
    );
    put(other, endpoints("s", 11), endpoints("t", 12));
    const { client } = useClient([main.uri], { sourceOf });
    const walk = client.walk(ListenerSchema, "l", { types });
    expect(portsOf(await until(walk, isWhole))).toEqual(["s 11", "t 2"]);
    put(other, endpoints("s", 13));
    expect(portsOf(await until(walk, isWhole))).toEqual(["s 13", "t 2"]);
    put(main, cluster("a", { service: "s" }));
    expect(portsOf(await until(walk, isWhole))).toEqual(["s 1", "t 2"]);
  });

  it("asks it for the routes of scopes in a listener [C-AUTH-4, C-AUTH-6]", async () => {
    const [main, other] = [await useOrigin(), await useOrigin()];
    put(
      main,
      scopedListener("l", from(other), "r"),
      routes("r", "of-main"),
      cluster("of-main"),
      cluster("of-other", { service: "s" }),
      endpoints("s", 1),
    );
    put(other, routes("r", "of-other"));
    const { client } = useClient([main.uri], { sourceOf });
    const walk = client.walk(ListenerSchema, "l", { types });
    expect([...(await until(walk, isWhole)).parts.clusters.keys()]).toEqual(["of-other"]);
    put(main, scopedListener("l", { ads: {} }, "r"), endpoints("of-main"));
    expect([...(await until(walk, isWhole)).parts.clusters.keys()]).toEqual(["of-main"]);
  });

  it("asks the one of the listener for the routes of scopes that come by themselves, and the scope's own for the scope [C-AUTH-4, C-AUTH-6]", async () => {
    const [main, other, third] = [await useOrigin(), await useOrigin(), await useOrigin()];
    put(
      main,
      srdsListener("l", "s", from(other)),
      scopedRoutes("s", "r"),
      routes("r", "of-main"),
      cluster("of-main"),
      endpoints("of-main"),
      cluster("of-other", { service: "t" }),
      endpoints("t"),
    );
    put(other, routes("r", "of-other"), routes("q", "of-other"), scopedRoutes("s", "never"));
    put(third, scopedRoutes("s", "q"));
    const { client } = useClient([main.uri], { sourceOf });
    const walk = client.walk(ListenerSchema, "l", { types: withScopes });
    const reached = async (...updates: readonly RawResource[]): Promise<readonly string[]> => {
      put(main, ...updates);
      const { parts } = await until(walk, isWhole);
      return [...parts.scopes.keys(), ...parts.routes.keys(), ...parts.clusters.keys()];
    };
    expect(await reached()).toEqual(["s", "r", "of-other"]);
    expect(await reached(scopedRoutes("s", "q"))).toEqual(["s", "q", "of-other"]);
    expect(await reached(scopedRoutes("s", "r"))).toEqual(["s", "r", "of-other"]);
    expect(await reached(srdsListener("l", "s", { ads: {} }))).toEqual(["s", "r", "of-main"]);
    expect(await reached(srdsListener("l", "s", from(other), from(third)))).toEqual([
      "s",
      "q",
      "of-other",
    ]);
    expect(
      await reached(srdsListener("l", "s", { path_config_source: { path: "/rds.yaml" } })),
    ).toEqual(["s"]);
  });

  it("says of a scope that it cannot be followed where its routes would come from two sources [C-AUTH-4]", async () => {
    const [main, other] = [await useOrigin(), await useOrigin()];
    put(
      main,
      srdsListener("l", "s", [from(other), from(other), { self: {} }]),
      scopedRoutes("s", "r"),
      routes("r"),
    );
    put(other, routes("r"));
    const { client } = useClient([main.uri], { sourceOf });
    const walk = client.walk(ListenerSchema, "l", { types: withScopes });
    const { pending } = await until(walk, ({ error }) => error !== undefined);
    expect(
      pending.flatMap(({ name, error }) => (error === undefined ? [] : [`${name}: ${error.text}`])),
    ).toEqual([
      's: "s" is referred to at two sources; a walk follows a name at one of them (node "me")',
    ]);
    put(main, srdsListener("l", "s", [from(other), from(other)]));
    expect([...(await until(walk, isWhole)).parts.routes.keys()]).toEqual(["r"]);
  });

  it("takes self of a listener for where that has come from, also for the routes of a scope from elsewhere [C-AUTH-6]", async () => {
    const [main, other] = [await useOrigin(), await useOrigin()];
    put(
      main,
      srdsListener("l", "s", { self: {} }, from(other)),
      routes("r", "of-main"),
      cluster("of-main"),
      endpoints("of-main"),
    );
    put(
      other,
      srdsListener("l", "s", { self: {} }),
      scopedRoutes("s", "r"),
      routes("r", "of-other"),
    );
    put(main, scopedRoutes("s", "r"), cluster("of-other", { service: "of-main" }));
    const source = readConfigSource(from(other));
    const { client } = useClient([main.uri], { sourceOf });
    const clusters = async (options: object): Promise<readonly string[]> => [
      ...(
        await until(client.walk(ListenerSchema, "l", { types: withScopes, ...options }), isWhole)
      ).parts.clusters.keys(),
    ];
    expect([await clusters({}), await clusters({ source })]).toEqual([["of-main"], ["of-other"]]);
  });

  it("takes self for where the payload has come from, and nothing for the bootstrap [C-AUTH-6]", async () => {
    const [main, other] = [await useOrigin(), await useOrigin()];
    put(other, listener("l", "r", { self: {} }), routes("r", "of-other"));
    put(
      main,
      listener("l", "r"),
      routes("r", "of-main"),
      cluster("of-other", { service: "s", from: { self: {} } }),
      cluster("of-main"),
      endpoints("of-main"),
      endpoints("s", 1),
    );
    put(other, cluster("of-other"), endpoints("s", 11));
    const source = readConfigSource(from(other));
    const { client } = useClient([main.uri], { sourceOf });
    const whole = await until(
      client.walk(ListenerSchema, "l", { types, ...(source.kind === "servers" && { source }) }),
      isWhole,
    );
    expect([
      [...whole.parts.routes.values()].map(({ value }) => value.name),
      [...whole.parts.clusters.keys()],
      portsOf(whole),
    ]).toEqual([["r"], ["of-other"], ["s 1"]]);
  });

  it("asks it for xdstp names of the authorities that it lists, and for no others [C-AUTH-1]", async () => {
    const [main, other] = [await useOrigin(), await useOrigin()];
    const [near, far] = ["near", "far"].map(
      (authority) => `xdstp://${authority}/envoy.config.endpoint.v3.ClusterLoadAssignment/s`,
    );
    put(
      main,
      listener("l", "r"),
      routes("r", "a", "b"),
      ...[
        ["a", near],
        ["b", far],
      ].map(([name = "", service = ""]) => cluster(name, { service, from: from(other, "far") })),
    );
    for (const [origin, port] of [
      [main, 1],
      [other, 11],
    ] as const)
      put(origin, ...[near, far].map((name = "") => ({ ...endpoints("s", port), name })));
    const { client } = useClient([main.uri], { sourceOf });
    expect(portsOf(await until(client.walk(ListenerSchema, "l", { types }), isWhole))).toEqual([
      `${near ?? ""} 1`,
      `${far ?? ""} 11`,
    ]);
  });

  it("says what cannot be asked: without a reader, of a file, of a name at two sources [C-AUTH-4]", async () => {
    const [main, other] = [await useOrigin(), await useOrigin()];
    put(main, listener("l", "r"), routes("r", "a"), cluster("a", { from: from(other) }));
    put(
      main,
      listener("m", "q"),
      routes("q", "b", "c"),
      cluster("b", { service: "s" }),
      cluster("c", { service: "s", from: from(other) }),
      endpoints("s"),
    );
    put(
      main,
      listener("n", "p"),
      routes("p", "d"),
      cluster("d", {
        service: "s",
        from: {
          ...from(other),
          api_config_source: { api_type: "REST", transport_api_version: "V3" },
        },
      }),
    );
    const reasonsOf = async (name: string, options: object): Promise<readonly unknown[]> => {
      const { pending } = await until(
        useClient([main.uri], options).client.walk(ListenerSchema, name, { types }),
        (given) => given.pending.some(({ error }) => error !== undefined),
      );
      return pending
        .filter(({ error }) => error !== undefined)
        .map((gap) => [gap.name, gap.error?.code, gap.error?.text.slice(0, 60)]);
    };
    expect(await reasonsOf("l", {})).toEqual([
      [
        "a",
        "UNIMPLEMENTED",
        '"a" comes from a ConfigSource of its own; give the client sourceOf'.slice(0, 60),
      ],
    ]);
    expect(await reasonsOf("m", { sourceOf })).toEqual([
      [
        "s",
        "UNIMPLEMENTED",
        '"s" is referred to at two sources; a walk follows a name at one of them'.slice(0, 60),
      ],
    ]);
    expect(await reasonsOf("n", { sourceOf })).toMatchObject([
      ["s", "INVALID_ARGUMENT", expect.stringContaining("cluster_names")],
    ]);
  });

  it("lets go of a ConfigSource that nothing refers to any more [C-STREAM-14]", async () => {
    const [main, other] = [await useOrigin(), await useOrigin()];
    put(
      main,
      listener("l", "r"),
      routes("r", "a"),
      cluster("a", { service: "s", from: from(other) }),
      endpoints("s", 1),
    );
    put(other, endpoints("s", 11));
    const clock = createFakeClock();
    const { client } = useClient([main.uri], { sourceOf, clock });
    const walk = client.walk(ListenerSchema, "l", { types });
    await until(walk, isWhole);
    expect(client.status().map(({ name }) => name)).toEqual([main.uri, other.uri]);
    put(main, cluster("a", { service: "s" }));
    await until(walk, isWhole);
    clock.advance(10_000);
    expect(client.status().map(({ name }) => name)).toEqual([main.uri]);
  });
});

describe.each(["delta", "sotw"] as const)(
  "what a walk of a %s client rejects as gRPC does",
  (variant) => {
    it("is a ConfigSource that sets neither ads nor self, with `onlyAds` [C-GRPC-18]", async () => {
      const main = await useOrigin();
      put(
        main,
        cluster("a", { service: "s", from: from(main) }),
        cluster("f", { service: "s", from: { path_config_source: { path: "/eds.yaml" } } }),
        cluster("b", { service: "s", from: { self: {} } }),
        endpoints("s"),
      );
      const { client, events } = useClient([main.uri], { variant, sourceOf });
      for (const name of ["a", "f"]) {
        const { root, error } = await until(
          client.walk(ClusterSchema, name, { types, onlyAds: true }),
          ({ error: known }) => known !== undefined,
        );
        expect([root, error?.text]).toEqual([
          undefined,
          `the ConfigSource of "s" sets neither ads nor self (node "me")`,
        ]);
      }
      expect(rejectedOf(events)).toEqual(["a", "f"]);
      put(main, srdsListener("l", "s", from(main)));
      expect(
        (
          await until(
            client.walk(ListenerSchema, "l", { types, onlyAds: true }),
            ({ error: known }) => known !== undefined,
          )
        ).error?.text,
      ).toContain('ConfigSource of "s" sets neither ads nor self');
      expect(
        (await until(client.walk(ClusterSchema, "b", { types, onlyAds: true }), isWhole)).root
          ?.name,
      ).toBe("b");
      expect(
        (
          await until(
            useClient([main.uri], { variant, sourceOf }).client.walk(ClusterSchema, "a", { types }),
            isWhole,
          )
        ).root?.name,
      ).toBe("a");
    });

    it("is a cluster with an xdstp name that does not name its endpoints [C-GRPC-3]", async () => {
      const main = await useOrigin();
      const name = "xdstp://acme/envoy.config.cluster.v3.Cluster/blue";
      put(main, cluster(name), endpoints("s"));
      const { client, events } = useClient([main.uri], { variant });
      const walk = client.walk(ClusterSchema, name, { types });
      const { error } = await until(walk, ({ error: known }) => known !== undefined);
      expect([error?.text, rejectedOf(events)]).toEqual([
        expect.stringContaining("needs eds_cluster_config.service_name"),
        [name],
      ]);
      put(main, cluster(name, { service: "s" }));
      expect([...(await until(walk, isWhole)).parts.endpoints.keys()]).toEqual(["s"]);
    });
  },
);
