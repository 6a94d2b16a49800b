import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import {
  cluster,
  clusterLoadAssignment,
  listener,
  routeConfiguration,
  runtime,
  secret,
  typedExtensionConfig,
  typeUrlOf,
  virtualHost,
} from "@xdstp/resource-types";
import { isObject } from "../documents-of.ts";
import type { JsonPath } from "../folder-problem.ts";

/** The place of a resource in a configuration that Envoy starts with. */
export interface Slot {
  /** The path of the list that contains `item`. */
  readonly list: JsonPath;
  readonly item: JsonObject;
  /** The path from `item` to the resource. For a secret, it leads to the content of the secret. */
  readonly way: JsonPath;
  /** The part of a path in the resource that `way` already contains. For a secret, it is the field with its content. */
  readonly from: JsonPath;
}

const clustersPath = ["static_resources", "clusters"] as const;
const listenersPath = ["static_resources", "listeners"] as const;
const layersPath = ["layered_runtime", "layers"] as const;
const extensions = "envoy.extensions";
const filtersUrl = typeUrlOf(`${extensions}.filters.http.`);

/**
 * Returns the place of a resource in a configuration. Returns `undefined` for resources that Envoy does not read when it starts: lists, redirects, types of other programs, and listeners for gRPC.
 * @param json - The payload, with field names as in the `.proto` file
 * @param index - A number that no other slot of the configuration has
 */
export function slotOf(typeUrl: string, json: JsonObject, index: number): Slot | undefined {
  return slots.get(typeUrl)?.(json, index);
}

const slots: ReadonlyMap<string, (json: JsonObject, index: number) => Slot | undefined> = new Map([
  [cluster.typeUrl, (json) => slot(clustersPath, json)],
  [
    listener.typeUrl,
    (json) => (json.api_listener === undefined ? slot(listenersPath, json) : undefined),
  ],
  [
    clusterLoadAssignment.typeUrl,
    (json, index) =>
      JSON.stringify(json).includes('"leds_cluster_locality_config"')
        ? undefined
        : slot(
            clustersPath,
            { name: `endpoints ${index}`, type: "STATIC", load_assignment: json },
            ["load_assignment"],
          ),
  ],
  [
    routeConfiguration.typeUrl,
    // Envoy does not look up the clusters of routes from a server, unless the routes request it.
    (json, index) => routesSlot(index, { validate_clusters: false, ...json }, []),
  ],
  [
    virtualHost.typeUrl,
    (json, index) =>
      routesSlot(index, { validate_clusters: false, virtual_hosts: [json] }, ["virtual_hosts", 0]),
  ],
  [secret.typeUrl, secretSlot],
  [
    runtime.typeUrl,
    ({ layer = {} }, index) => ({
      ...slot(layersPath, { name: `layer ${index}`, static_layer: layer }, ["static_layer"]),
      from: ["layer"],
    }),
  ],
  [
    typedExtensionConfig.typeUrl,
    (json, index) => {
      const type = isObject(json.typed_config) ? json.typed_config["@type"] : undefined;
      if (typeof type !== "string" || !type.startsWith(filtersUrl)) return undefined;
      if (type === routerUrl) return undefined;
      return managerSlot(index, { http_filters: [json, router], route_config: {} }, [
        "http_filters",
        0,
      ]);
    },
  ],
] as const);

function slot(list: JsonPath, item: JsonObject, way: JsonPath = []): Slot {
  return { list, item, way, from: [] };
}

const routerUrl = typeUrlOf(`${extensions}.filters.http.router.v3.Router`);
const router: JsonObject = { name: "router", typed_config: { "@type": routerUrl } };

function routesSlot(index: number, routes: JsonObject, way: JsonPath): Slot {
  return managerSlot(index, { route_config: routes, http_filters: [router] }, [
    "route_config",
    ...way,
  ]);
}

function managerSlot(index: number, manager: JsonObject, way: JsonPath): Slot {
  const item = listenerWith(index, {
    filters: [
      {
        name: "http",
        typed_config: {
          "@type": typeUrlOf(
            `${extensions}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
          ),
          stat_prefix: "http",
          ...manager,
        },
      },
    ],
  });
  return slot(listenersPath, item, ["filter_chains", 0, "filters", 0, "typed_config", ...way]);
}

function listenerWith(index: number, chain: JsonObject): JsonObject {
  return { name: `listener ${index}`, address: addressOf(index), filter_chains: [chain] };
}

/** Returns an address for an index. Envoy does not listen on it, but rejects an address that occurs twice. */
function addressOf(index: number): JsonObject {
  const address = `127.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  return { socket_address: { address, port_value: 1 } };
}

/** Returns the slot of a secret. Envoy reads certificates only where they are used, so they are put into a listener or a cluster. */
function secretSlot(json: JsonObject, index: number): Slot {
  const { tls_certificate: certificate, validation_context: validation } = json;
  if (certificate !== undefined) {
    const context: JsonObject = {
      "@type": typeUrlOf(`${extensions}.transport_sockets.tls.v3.DownstreamTlsContext`),
      common_tls_context: { tls_certificates: [certificate] },
    };
    const chain = { transport_socket: { name: "tls", typed_config: context } };
    const way = ["filter_chains", 0, ...contextWay, "tls_certificates", 0];
    return { ...slot(listenersPath, listenerWith(index, chain), way), from: ["tls_certificate"] };
  }
  if (validation !== undefined) {
    const context: JsonObject = {
      "@type": typeUrlOf(`${extensions}.transport_sockets.tls.v3.UpstreamTlsContext`),
      common_tls_context: { validation_context: validation },
    };
    const item = {
      name: `secret ${index}`,
      type: "STATIC",
      transport_socket: { name: "tls", typed_config: context },
    };
    const way = [...contextWay, "validation_context"];
    return { ...slot(clustersPath, item, way), from: ["validation_context"] };
  }
  return slot(["static_resources", "secrets"], { ...json, name: `secret ${index}` });
}

const contextWay = ["transport_socket", "typed_config", "common_tls_context"] as const;

/** A slot with its place in a configuration. */
export interface PlacedSlot {
  readonly slot: Slot;
  /** The path of the resource in the configuration. */
  readonly path: JsonPath;
}

const server = "xdstp validate";
const internalListener = "envoy.bootstrap.internal_listener";

/** Returns a configuration with these slots. Clusters that they refer to and that are not among them are added without endpoints. */
export function bootstrapOf(slots: readonly Slot[]): {
  readonly json: JsonObject;
  readonly placed: readonly PlacedSlot[];
} {
  const lists = Map.groupBy(slots, ({ list }) => list.join("."));
  const itemsAt = (path: JsonPath): JsonObject[] =>
    (lists.get(path.join(".")) ?? []).map(({ item }) => item);
  const placed = [...lists.values()].flatMap((inList) =>
    inList.map((one, index) => ({ slot: one, path: [...one.list, index, ...one.way] })),
  );
  const clusters = itemsAt(clustersPath);
  const held = new Set(clusters.map(({ name }) => name));
  const missing = [...clusterNamesIn(slots.map(({ item }) => item))].filter(
    (name) => !held.has(name),
  );
  const needsInternal = /"(?:internal_listener|envoy_internal_address)"/.test(
    JSON.stringify([...itemsAt(listenersPath), ...clusters]),
  );
  const layers = itemsAt(layersPath);
  const json = {
    node: { id: server, cluster: server },
    dynamic_resources: {
      ads_config: {
        api_type: "GRPC",
        transport_api_version: "V3",
        grpc_services: [{ envoy_grpc: { cluster_name: server } }],
      },
    },
    static_resources: {
      clusters: [...clusters, ...[...missing, server].map(emptyCluster)],
      listeners: itemsAt(listenersPath),
      secrets: itemsAt(["static_resources", "secrets"]),
    },
    ...(layers.length > 0 && { layered_runtime: { layers } }),
    ...(needsInternal && {
      bootstrap_extensions: [
        {
          name: internalListener,
          typed_config: {
            "@type": typeUrlOf(`${extensions}.bootstrap.internal_listener.v3.InternalListener`),
          },
        },
      ],
    }),
  };
  return { json, placed };
}

/** Returns a cluster without endpoints, as the target of references. */
export function emptyCluster(name: string): JsonObject {
  return { name, type: "STATIC" };
}

/** Fields with names of clusters. */
const clusterFields: ReadonlySet<string> = new Set(["cluster", "cluster_name", "cluster_names"]);

/** Returns the names of clusters in a JSON value. It may return too many, which does no harm. */
function clusterNamesIn(json: JsonValue, found = new Set<string>()): Set<string> {
  if (typeof json !== "object" || json === null) return found;
  for (const [key, value] of Object.entries(json)) {
    const inner = value;
    if (clusterFields.has(key))
      for (const name of Array.isArray(inner) ? inner : [inner])
        if (typeof name === "string" && name !== "") found.add(name);
    if (key === "weighted_clusters" && isObject(inner) && Array.isArray(inner.clusters))
      for (const one of inner.clusters)
        if (isObject(one) && typeof one.name === "string") found.add(one.name);
    clusterNamesIn(inner, found);
  }
  return found;
}
