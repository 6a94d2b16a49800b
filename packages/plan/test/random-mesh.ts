import type { JsonObject } from "@bufbuild/protobuf";
import type { Put } from "@xdstp/core";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";

import { type } from "./socket-client.ts";

/** Clusters, their endpoints, routes to them and listeners of the routes, by a number generator. */
export interface Mesh {
  /** By name, whether the endpoints come by EDS, and which port they have. */
  readonly clusters: ReadonlyMap<string, { readonly isEds: boolean; readonly port: number }>;
  /** By name, the clusters. */
  readonly routes: ReadonlyMap<string, readonly string[]>;
  /** By name, the routes, and the statistics prefix. */
  readonly listeners: ReadonlyMap<string, { readonly route: string; readonly prefix: string }>;
}

/** Gives a whole number from 0 to below the limit. */
export type Below = (limit: number) => number;

/** A generator that is the same everywhere. */
export function createBelow(seed: number): Below {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Returns some of these names, at least one. */
function some(names: readonly string[], below: Below): readonly string[] {
  const picked = names.filter(() => below(3) > 0);
  return picked.length > 0 ? picked : names.slice(0, 1);
}

/** Makes a mesh in which everything that is referred to exists. */
export function randomMesh(below: Below): Mesh {
  const clusters = new Map(
    some(["a", "b", "c", "d", "e"], below).map((name) => [
      name,
      { isEds: below(2) === 0, port: 8_000 + below(3) },
    ]),
  );
  const names = [...clusters.keys()];
  const routes = new Map(
    some(["r", "s", "t"], below).map((name) => [name, some(names, below).slice(0, 2)]),
  );
  const routeNames = [...routes.keys()];
  const listeners = new Map(
    some(["l", "m"], below).map((name) => [
      name,
      { route: routeNames[below(routeNames.length)] ?? "", prefix: `p${below(2)}` },
    ]),
  );
  return { clusters, routes, listeners };
}

const registry = envoyRegistry();
const ads = { ads: {}, resourceApiVersion: "V3" };

function put(typeUrl: string, name: string, json: JsonObject): Put {
  const payload = anyFromJson({ "@type": typeUrl, ...json }, registry);
  return { typeUrl, resource: { name, version: "", payload } };
}

function endpointsOf(clusterName: string, port: number): JsonObject {
  const address = { socketAddress: { address: "127.0.0.1", portValue: port } };
  return { clusterName, endpoints: [{ lbEndpoints: [{ endpoint: { address } }] }] };
}

/** The resources of a mesh. */
export function resourcesOf({ clusters, routes, listeners }: Mesh): readonly Put[] {
  return [
    ...[...clusters].flatMap(([name, { isEds, port }]) =>
      isEds
        ? [
            put(type.clusters, name, { name, type: "EDS", edsClusterConfig: { edsConfig: ads } }),
            put(type.endpoints, name, endpointsOf(name, port)),
          ]
        : [put(type.clusters, name, { name, loadAssignment: endpointsOf(name, port) })],
    ),
    ...[...routes].map(([name, targets]) =>
      put(type.routes, name, {
        name,
        virtualHosts: targets.map((cluster, at) => ({
          name: `v${at}`,
          domains: [`v${at}`],
          routes: [{ match: { prefix: "/" }, route: { cluster } }],
        })),
      }),
    ),
    ...[...listeners].map(([name, { route, prefix }], at) =>
      put(type.listeners, name, {
        name,
        address: { socketAddress: { address: "127.0.0.1", portValue: 18_000 + at } },
        filterChains: [
          {
            filters: [
              {
                name: "http",
                typedConfig: {
                  "@type":
                    "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                  statPrefix: prefix,
                  rds: { routeConfigName: route, configSource: ads },
                },
              },
            ],
          },
        ],
      }),
    ),
  ];
}

/** The resources of a client that requests all clusters and listeners, and what these refer to: `TYPE URL NAME`. */
export function reachable({ clusters, listeners }: Mesh): readonly string[] {
  const used = new Set([...listeners.values()].map(({ route }) => route));
  return [
    ...[...clusters].flatMap(([name, { isEds }]) => [
      `${type.clusters} ${name}`,
      ...(isEds ? [`${type.endpoints} ${name}`] : []),
    ]),
    ...[...used].map((name) => `${type.routes} ${name}`),
    ...[...listeners.keys()].map((name) => `${type.listeners} ${name}`),
  ];
}

/** A mesh with one cluster more, to which nothing refers. */
export function withCluster(mesh: Mesh, name: string): Mesh {
  return { ...mesh, clusters: new Map([...mesh.clusters, [name, { isEds: false, port: 1 }]]) };
}
