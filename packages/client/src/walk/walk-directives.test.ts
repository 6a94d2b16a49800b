import { setImmediate } from "node:timers/promises";

import { create, toBinary } from "@bufbuild/protobuf";
import { createCache, type RawResource } from "@xdstp/cache";
import { ClusterLoadAssignmentSchema } from "@xdstp/protos/envoy/endpoint";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { ListenerSchema } from "@xdstp/protos/envoy/listener";
import { ListCollectionSchema } from "@xdstp/protos/xds";
import { envoyTypes } from "@xdstp/resource-types";
import { describe, expect, it, onTestFinished } from "vitest";

import {
  cluster,
  clusterUrl,
  endpoints,
  endpointsUrl,
  listener,
  routes,
} from "../../test/envoy-resources.ts";
import { parts as types } from "../../test/envoy-parts.ts";
import { useClient, useOrigin, type Origin } from "../../test/use-origin.ts";
import { turn, useDeltaScript } from "../../test/use-script.ts";
import { parseBootstrap } from "../index.ts";
import { referenceFault } from "./faults.ts";
import { watchGraph } from "./watch-graph.ts";

const endpointsType = "envoy.config.endpoint.v3.ClusterLoadAssignment";
const foo = `xdstp://some-cloud-authority/${endpointsType}/foo`;
const bar = `xdstp://some-onprem-authority/${endpointsType}/bar`;
const failover = `${foo}#alt=${bar}`;
const list = `xdstp://some-cloud-authority/${endpointsType}Collection/all`;

const plain = (uri: string): object => ({
  xds_servers: [{ server_uri: uri, channel_creds: [{ type: "insecure" }] }],
});
const authorities = (cloud: string, onprem: string): object => ({
  "some-cloud-authority": plain(cloud),
  "some-onprem-authority": plain(onprem),
});

/** Returns a list with one inline entry. */
const listOf = (name: string, { typeUrl, value }: RawResource): Uint8Array =>
  toBinary(
    ListCollectionSchema,
    create(ListCollectionSchema, {
      entries: [
        {
          resourceSpecifier: {
            case: "inlineEntry",
            value: { name, version: "1", resource: { typeUrl, value } },
          },
        },
      ],
    }),
  );

function put({ cache }: Origin, ...resources: readonly RawResource[]): void {
  cache.transaction((writer) => {
    for (const resource of resources) writer.put(resource);
  });
}

describe("a walk through a name with directives", () => {
  it("looks it up as it is written, and keeps it under that name [C-ALT-2] [C-LIST-7]", async () => {
    const cache = createCache({ types: envoyTypes, directives: true });
    onTestFinished(() => cache.close());
    const entry = `${list}#entry=x`;
    const roots = [cluster("a", { service: failover }), cluster("b", { service: entry })];
    cache.transaction((writer) => {
      for (const root of roots) writer.put(root);
    });
    for (const as of [failover, entry])
      cache.commit({
        put: [
          {
            typeUrl: endpointsUrl,
            as,
            resource: { name: as, version: "1", payload: { ...endpoints("e") } },
          },
        ],
      });
    for (const [name, named] of [
      ["a", failover],
      ["b", entry],
    ] as const) {
      const watch = watchGraph(cache, { typeUrl: clusterUrl, name }, { onWalk: () => undefined });
      await setImmediate();
      expect(watch.composition.pending).toEqual([]);
      expect([...(watch.composition.graph?.nodes.values() ?? [])].map((node) => node.name)).toEqual(
        [name, named],
      );
      watch.close();
    }
  });

  it("follows the failover example of TP1, there and back [C-ALT-2] [C-ALT-4]", async () => {
    const { client, clock, servers } = useDeltaScript(
      { bootstrapMore: { authorities: authorities("s1", "s2") } },
      3,
    );
    const [main, cloud, onprem] = servers;
    let nonce = 0;
    const give = async (server: typeof main, { typeUrl, name, value }: RawResource) => {
      server?.send({
        typeUrl,
        nonce: String(++nonce),
        resources: [{ name, version: String(nonce), resource: { typeUrl, value } }],
      });
      await turn();
    };
    const seen: string[] = [];
    void (async () => {
      for await (const { parts } of client.walk(ClusterSchema, "web", {
        types: { endpoints: ClusterLoadAssignmentSchema },
      }))
        seen.push(
          [...parts.endpoints].map(([name, { value }]) => `${name} is ${value.clusterName}`).join(),
        );
    })();
    await turn();
    await give(main, cluster("web", { service: failover }));
    cloud?.close({ code: 14, message: "a network partition" });
    await turn();
    await give(onprem, endpoints(bar));
    expect(seen).toEqual([`${failover} is ${bar}`]);
    clock.advance(10_000);
    await turn();
    await give(cloud, endpoints(foo));
    expect(seen).toEqual([`${failover} is ${bar}`, `${failover} is ${foo}`]);
  });

  it("follows an alternative and an entry over sockets [C-ALT-2] [C-LIST-7]", async () => {
    const [main, cloud, onprem] = [await useOrigin(), await useOrigin(), await useOrigin()];
    const bootstrap = parseBootstrap({
      ...plain(main.uri),
      node: { id: "me" },
      authorities: authorities(cloud.uri, onprem.uri),
    });
    put(
      main,
      listener("l", "r"),
      routes("r", "a", "b"),
      cluster("a", { service: failover }),
      cluster("b", { service: `${list}#entry=in` }),
    );
    put(onprem, endpoints(bar, 7));
    cloud.cache.commit({
      put: [
        {
          typeUrl: `${endpointsUrl}Collection`,
          resource: {
            name: list,
            version: "",
            payload: {
              typeUrl: `${endpointsUrl}Collection`,
              value: listOf("in", endpoints("in", 9)),
            },
          },
        },
      ],
    });
    const { client } = useClient([main.uri], { bootstrap, altOn: "missing", fetchMs: 500 });
    for await (const { root, parts } of client.walk(ListenerSchema, "l", { types })) {
      if (root === undefined) continue;
      expect([...parts.endpoints].map(([name, { value }]) => [name, value.clusterName])).toEqual([
        [failover, bar],
        [`${list}#entry=in`, "in"],
      ]);
      break;
    }
  });

  const faults: readonly (readonly [name: string, text: string])[] = [
    [
      `${foo}#alt=xdstp://b/t.Other/x`,
      `cannot be followed: its alternative xdstp://b/t.Other/x has the type t.Other; it has to be ${endpointsType}`,
    ],
    [`${foo}#entry=x`, `it has to be ${endpointsType}Collection`],
    [
      `${foo.replace(/foo$/, "*")}#alt=${bar.replace(/bar$/, "*")}`,
      "is a glob collection, which a walk does not follow",
    ],
    [`${foo}#other=x`, "is not an xdstp name"],
    [`${foo}#alt=http://b/${endpointsType}/x`, "has the scheme http"],
  ];
  for (const [name, text] of faults)
    it(`says why it does not follow ${name.replace(/^.*\//, "")}`, () => {
      expect(referenceFault({ typeUrl: endpointsUrl, name })?.text).toContain(text);
    });
});
