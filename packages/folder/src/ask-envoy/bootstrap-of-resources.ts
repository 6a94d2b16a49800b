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

/** The place of a resource in a configuration with which Envoy starts. */
export interface Slot {
  /** The list that `item` is a part of. */
  readonly list: JsonPath;
  readonly item: JsonObject;
  /** The way from `item` to the resource; what of the resource lies elsewhere is not in it. */
  readonly way: JsonPath;
  /** The way that is left out: of a secret the field with its content. */
  readonly from: JsonPath;
}

const clustersPath = ["static_resources", "clusters"] as const;
const listenersPath = ["static_resources", "listeners"] as const;
const layersPath = ["layered_runtime", "layers"] as const;
const extensions = "envoy.extensions";
const filtersUrl = typeUrlOf(`${extensions}.filters.http.`);

/**
 * Returns how Envoy reads a resource at its start.
 * undefined: it does not, as lists, redirects, types of others, and listeners for gRPC.
 * @param json - The payload, with the names of the `.proto` file
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
    // Envoy does not look up the clusters of routes that come from a server, unless they say so.
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

/** An address for each index. Envoy does not listen, but rejects an address that occurs twice. */
function addressOf(index: number): JsonObject {
  const address = `127.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  return { socket_address: { address, port_value: 1 } };
}

/** Envoy reads certificates where they are used. */
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

/** A slot and its place in the list. */
export interface PlacedSlot {
  readonly slot: Slot;
  /** The way to the resource. */
  readonly path: JsonPath;
}

const server = "xdstp validate";
const internalListener = "envoy.bootstrap.internal_listener";

/** Returns a configuration that has these slots in it, and all clusters to which they refer, as far as they are not there, without endpoints. */
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

/** A cluster to which something may refer. */
export function emptyCluster(name: string): JsonObject {
  return { name, type: "STATIC" };
}

/** Fields that name clusters. */
const clusterFields: ReadonlySet<string> = new Set(["cluster", "cluster_name", "cluster_names"]);

/** The names of clusters in a JSON value. A name too many does no harm. */
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
