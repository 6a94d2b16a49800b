import { type JsonObject, type JsonValue, toJson, type Message } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ApiConfigSourceSchema } from "@xdstp/protos/envoy/core";
import { cluster as clusterType, listener as listenerType } from "@xdstp/resource-types";
import { nodeContextParams } from "@xdstp/uri";
import { NodeSchema, type Node } from "@xdstp/protos/discovery";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";

import type { BootstrapNode, BootstrapServer } from "../grpc/bootstrap.ts";
import {
  asArray,
  asObject,
  field,
  inside,
  items,
  type Place,
  type Placed,
  wrongAt,
} from "../grpc/place.ts";
import type { ServerConfig } from "../server-config.ts";
import { bootstrapSources, type PlacedSource, readLocator } from "./bootstrap-sources.ts";
import type { EnvoyBootstrap } from "./config-source.ts";
import { parseText, readMessage } from "./read-message.ts";
import { readApiConfigSource } from "./read-api-config-source.ts";
import { readPlacedConfigSource } from "./read-config-source.ts";
import { serversOfCluster } from "./servers-of-cluster.ts";

const typeName = "envoy.config.bootstrap.v3.Bootstrap";

/**
 * Reads the xDS part of a bootstrap of Envoy: `node`, `config_sources`, `default_config_source`,
 * `dynamic_resources`, `node_context_params`, and the static clusters that lead to management
 * servers. Other fields are not read.
 *
 * Throws an XdsError that names `source` and the field: INVALID_ARGUMENT for an invalid or missing
 * value, UNIMPLEMENTED for a value that is not supported yet.
 * @param bootstrap - A text in YAML or JSON, its JSON, or the message
 * @param source - The name of the bootstrap in errors
 */
export function readEnvoyBootstrap(
  bootstrap: string | object,
  source = "bootstrap",
): EnvoyBootstrap {
  const whole = fieldsOf(typeName, jsonOf(bootstrap, { source, path: "" }));
  const clusters = readStaticClusters(
    fieldsOf(`${typeName}.StaticResources`, whole("static_resources"))("clusters"),
  );
  const dynamic = fieldsOf(`${typeName}.DynamicResources`, whole("dynamic_resources"));
  const readSource = (found: Placed<JsonValue> | undefined): PlacedSource | undefined =>
    found === undefined
      ? undefined
      : { place: found.place, source: readPlacedConfigSource(found.value, found.place, clusters) };
  const ads = readAds(dynamic, clusters);
  const [listeners, ofClusters] = [
    readSource(dynamic("lds_config")),
    readSource(dynamic("cds_config")),
  ];
  return {
    node: readNode(objectOf(whole("node"))),
    sources: bootstrapSources({
      listed: listOf(whole("config_sources"))
        .map(readSource)
        .filter((found) => found !== undefined),
      fallback: readSource(whole("default_config_source")),
      dynamic: [listeners, ofClusters].filter((found) => found !== undefined),
      ads,
      place: { source, path: "" },
    }),
    ...(ads !== undefined && { ads: { servers: ads } }),
    nodeContextParams: readParams(whole("node_context_params")),
    resourcesLocators: {
      ...readLocator("listeners", dynamic("lds_resources_locator"), listenerType),
      ...readLocator("clusters", dynamic("cds_resources_locator"), clusterType),
    },
    configSources: {
      ...(listeners !== undefined && { listeners: listeners.source }),
      ...(ofClusters !== undefined && { clusters: ofClusters.source }),
    },
    clusters,
  };
}

function jsonOf(bootstrap: string | object, place: Place): Placed<JsonValue> {
  if (typeof bootstrap === "string") return parseText(bootstrap, place);
  if ((bootstrap as Partial<Message> | null)?.$typeName !== typeName)
    return { value: bootstrap as JsonValue, place };
  const registry = envoyRegistry();
  const schema = registry.getMessage(typeName);
  return {
    value: schema === undefined ? {} : toJson(schema, bootstrap as Message, { registry }),
    place,
  };
}

function readAds(
  dynamic: Fields,
  clusters: EnvoyBootstrap["clusters"],
): readonly ServerConfig[] | undefined {
  const found = dynamic("ads_config");
  return found === undefined
    ? undefined
    : readApiConfigSource(
        readMessage(ApiConfigSourceSchema, asObject(found)),
        found.place,
        clusters,
        true,
      );
}

function listOf(found: Placed<JsonValue> | undefined): readonly Placed<JsonValue>[] {
  return found === undefined ? [] : items(asArray(found));
}

/** Each parameter is checked separately, so that the error names it. */
function readParams(found: Placed<JsonValue> | undefined): readonly string[] {
  return listOf(found).map(({ value, place }) => {
    if (typeof value === "string" && nodeContextParams({}, [value]).ok) return value;
    throw wrongAt(
      place,
      `is ${JSON.stringify(value)}, which is not a field of the node that may be a parameter; give one like id, cluster, locality.zone or metadata`,
      "N-62",
    );
  });
}

/**
 * Returns `node` of a bootstrap, or an empty node if it is absent. The user agent and features of
 * Envoy in it are not copied: the client sends its own.
 */
function readNode(json: Placed<JsonObject> | undefined): BootstrapNode {
  if (json === undefined) return { id: "", cluster: "" };
  const { id, cluster, locality, metadata, dynamicParameters } = readMessage(NodeSchema, json);
  return {
    id,
    cluster,
    ...(locality !== undefined && { locality: localityOf(locality) }),
    ...(metadata !== undefined && { metadata }),
    ...(Object.keys(dynamicParameters).length > 0 && {
      dynamicParameters: new Map(
        Object.entries(dynamicParameters).map(([typeUrl, { params }]) => [
          typeUrl,
          new Map(Object.entries(params)),
        ]),
      ),
    }),
  };
}

function localityOf({
  region,
  zone,
  subZone,
}: NonNullable<Node["locality"]>): NonNullable<BootstrapNode["locality"]> {
  return { region, zone, subZone };
}

/** Resolves static clusters by name. A cluster is read when it is needed, so the others may be of any kind. */
function readStaticClusters(json: Placed<JsonValue> | undefined): EnvoyBootstrap["clusters"] {
  const clusters: readonly Placed<JsonObject>[] =
    json === undefined ? [] : items(asArray(json)).map(asObject);
  const read = new Map<string, readonly BootstrapServer[]>();
  return (name, use = "grpc") => {
    const cluster = clusters.find(({ value }) => value.name === name);
    if (cluster === undefined) return undefined;
    const key = `${use} ${name}`;
    const servers =
      read.get(key) ?? serversOfCluster(readMessage(ClusterSchema, cluster), cluster.place, use);
    read.set(key, servers);
    return servers;
  };
}

/** Finds a field of a message in JSON by its proto name. The JSON may spell it `node_id` or `nodeId`. */
type Fields = (name: string) => Placed<JsonValue> | undefined;

/** Returns single fields of a message in JSON without parsing the others, which may contain types that are not known here. Throws for a field that the message does not have. */
function fieldsOf(typeName: string, json: Placed<JsonValue> | undefined): Fields {
  if (json === undefined) return () => undefined;
  const object = asObject(json);
  const known = envoyRegistry().getMessage(typeName)?.fields ?? [];
  const unknown = Object.keys(object.value).find(
    (key) => !known.some(({ name, jsonName }) => key === name || key === jsonName),
  );
  if (unknown !== undefined)
    throw wrongAt(inside(object.place, unknown), `is not a field of ${typeName}`);
  return (name) =>
    field(object, name) ?? field(object, known.find((one) => one.name === name)?.jsonName ?? name);
}

/** Returns the object in a field, or `undefined` if the field is absent. */
function objectOf(found: Placed<JsonValue> | undefined): Placed<JsonObject> | undefined {
  return found === undefined ? undefined : asObject(found);
}
