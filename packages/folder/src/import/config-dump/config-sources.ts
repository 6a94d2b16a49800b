import type { JsonObject, Registry } from "@bufbuild/protobuf";
import type { ResourceType } from "@xdstp/core";
import {
  clusterLoadAssignment,
  routeConfiguration,
  runtime,
  scopedRouteConfiguration,
  secret,
  typedExtensionConfig,
} from "@xdstp/resource-types";
import { bootstrapName } from "../../check-bootstrap.ts";
import type { UnmovedResource } from "../imported.ts";
import {
  descOf,
  type JsonResource,
  resourceKey,
  searchedResource,
  staticOf,
} from "../json-resource.ts";
import {
  keyOf,
  type MessageInJson,
  messagesInJson,
  objectOf,
  textOf,
  valueOf,
  without,
} from "../messages-in-json.ts";
import { adsSource } from "../plan-import.ts";
import { secretReference } from "../static-needs.ts";

/** Replaces the sources of resources in the folder by the server of the folder, and adds those that the folder does not have to `missing`. A secret with a service of its own stays there. */
export function followSources(
  bootstrap: JsonObject,
  dynamic: readonly JsonResource[],
  missing: UnmovedResource[],
  registry: Registry,
): void {
  const served = new Set(dynamic.map(resourceKey));
  const servedTypes = new Set(dynamic.map(({ type }) => type));
  const known = new Set(missing.map(({ typeUrl, name }) => `${typeUrl} ${name}`));
  const fixed = staticOf(bootstrap);
  const isStatic = new Set(fixed.map(resourceKey));
  const rest = without(without(bootstrap, "static_resources"), "dynamic_resources");
  const searched = [
    { json: rest, desc: descOf(bootstrapName, registry) },
    ...[...fixed, ...dynamic].map((one) => searchedResource(one, registry)),
  ];
  for (const { message, row } of searched.flatMap((one) => sourcesIn(one, registry))) {
    const { type, field, nameOf } = row;
    const source = objectOf(message.json, field);
    // Without a source the message itself holds the resource; a secret is a static one.
    if (source === undefined && type !== secret) continue;
    const isOwn = isOwnSource(source);
    const name = nameOf?.(message) ?? "";
    const key = resourceKey({ type, name });
    if (type === secret && (isOwn || (source === undefined && isStatic.has(key)))) continue;
    if (type === runtime && isOwn) continue;
    const isServed = nameOf === undefined ? servedTypes.has(type) : served.has(key);
    if (isServed || !isOwn)
      message.json[keyOf(message.json, field)] = { ...timeoutOf(source), ...adsSource() };
    if (isServed || known.has(key) || nameOf === undefined) continue;
    known.add(key);
    missing.push({ typeUrl: type.typeUrl, name, reason: absentReason(type) });
  }
}

/** A message that says where another resource comes from. */
export interface SourceMessage {
  readonly message: MessageInJson;
  readonly row: SourceRow;
}

/** The messages in a resource that say where other ones come from. */
export function sourcesIn(
  searched: Pick<MessageInJson, "json" | "desc">,
  registry: Registry,
): readonly SourceMessage[] {
  return Array.from(messagesInJson(searched, registry)).flatMap((message) => {
    const row = rows.find((one) => one.message === message.desc.typeName);
    return row === undefined ? [] : [{ message, row }];
  });
}

function timeoutOf(source: JsonObject | undefined): JsonObject {
  const timeout = source && valueOf(source, "initial_fetch_timeout");
  return timeout === undefined ? {} : { initial_fetch_timeout: timeout };
}

function absentReason(type: ResourceType): string {
  return type === clusterLoadAssignment
    ? "the dump has no endpoints of it; take one with /config_dump?include_eds"
    : "the dump does not have it; add a file for it";
}

/** A kind of message that says where another resource comes from. */
interface SourceRow {
  readonly message: string;
  readonly field: string;
  readonly type: ResourceType;
  /** The name of that resource. Absent: all of the type. */
  readonly nameOf?: (message: MessageInJson) => string;
}

const manager = "envoy.extensions.filters.network.http_connection_manager.v3";

const rows: readonly SourceRow[] = [
  {
    message: "envoy.config.cluster.v3.Cluster.EdsClusterConfig",
    field: "eds_config",
    type: clusterLoadAssignment,
    nameOf: ({ json, above }) => textOf(json, "service_name") || textOf(above?.json ?? {}, "name"),
  },
  {
    message: `${manager}.Rds`,
    field: "config_source",
    type: routeConfiguration,
    nameOf: ({ json }) => textOf(json, "route_config_name"),
  },
  { message: `${manager}.ScopedRoutes`, field: "rds_config_source", type: routeConfiguration },
  {
    message: `${manager}.ScopedRds`,
    field: "scoped_rds_config_source",
    type: scopedRouteConfiguration,
  },
  {
    message: "envoy.config.core.v3.ExtensionConfigSource",
    field: "config_source",
    type: typedExtensionConfig,
    nameOf: ({ above }) => textOf(above?.json ?? {}, "name"),
  },
  {
    message: secretReference,
    field: "sds_config",
    type: secret,
    nameOf: ({ json }) => textOf(json, "name"),
  },
  {
    message: "envoy.config.bootstrap.v3.RuntimeLayer.RtdsLayer",
    field: "rtds_config",
    type: runtime,
    nameOf: ({ json }) => textOf(json, "name"),
  },
];

/** Returns true if a config source names a server or a file, and is not the stream that all types share. */
export function isOwnSource(source: JsonObject | undefined): boolean {
  return (
    source !== undefined &&
    ["api_config_source", "path_config_source", "path"].some(
      (field) => valueOf(source, field) !== undefined,
    )
  );
}
