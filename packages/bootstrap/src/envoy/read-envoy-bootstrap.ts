import { toJson, type Message } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ApiConfigSourceSchema } from "@xdstp/protos/envoy/core";
import { cluster as clusterType, listener as listenerType } from "@xdstp/resource-types";
import { nodeContextParams } from "@xdstp/uri";

import type { JsonValue } from "../grpc/bootstrap.ts";
import { asArray, asObject, items, wrongAt, type Place, type Placed } from "../grpc/place.ts";
import type { ServerConfig } from "../server-config.ts";
import { bootstrapSources, type PlacedSource } from "./bootstrap-sources.ts";
import type { StaticClusters } from "./config-source.ts";
import type { EnvoyBootstrap } from "./envoy-bootstrap.ts";
import { fieldsOf, objectOf, type Fields } from "./fields-of.ts";
import { parseText } from "./parse-text.ts";
import { readApiConfigSource } from "./read-api-config-source.ts";
import { readPlacedConfigSource } from "./read-config-source.ts";
import { readLocator } from "./read-locator.ts";
import { readMessage } from "./read-message.ts";
import { readNode } from "./read-node.ts";
import { readStaticClusters } from "./read-static-clusters.ts";

const typeName = "envoy.config.bootstrap.v3.Bootstrap";

/**
 * Reads what a bootstrap of Envoy says of xDS: `node`, `config_sources`, `default_config_source`, `dynamic_resources`, `node_context_params`, and of static clusters those that lead to management servers.
 * The rest of it is not looked at.
 *
 * Throws an XdsError that names `source` and the field: INVALID_ARGUMENT for what is broken or missing, UNIMPLEMENTED for what cannot be done here yet.
 * @param bootstrap - A text in YAML or JSON, its JSON, or the message
 * @param source - What errors call it
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
      beside: [listeners, ofClusters].filter((found) => found !== undefined),
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

function readAds(dynamic: Fields, clusters: StaticClusters): readonly ServerConfig[] | undefined {
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

/** Each of them is looked at by itself, so that the error names it. */
function readParams(found: Placed<JsonValue> | undefined): readonly string[] {
  return listOf(found).map(({ value, place }) => {
    if (typeof value === "string" && nodeContextParams({}, [value]).ok) return value;
    throw wrongAt(
      place,
      `is ${JSON.stringify(value)}, which is not a field of the node that may be a parameter (N-62); give one like id, cluster, locality.zone or metadata`,
    );
  });
}
