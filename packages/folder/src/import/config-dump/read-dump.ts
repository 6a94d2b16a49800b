import type { JsonObject, JsonValue, Registry } from "@bufbuild/protobuf";
import type { ResourceType } from "@xdstp/core";
import { anyFromJson } from "@xdstp/protos/envoy";
import {
  cluster,
  clusterLoadAssignment,
  listener,
  routeConfiguration,
  scopedRouteConfiguration,
  secret,
  typedExtensionConfig,
  typeUrlOf,
} from "@xdstp/resource-types";
import { bootstrapName } from "../../check-bootstrap.ts";
import { canonicalJson, isObject } from "../../documents-of.ts";
import { Fault, type JsonPath } from "../../folder-problem.ts";
import { explainJsonError, fieldOf } from "../../json-reason.ts";
import { rejectFaultyJson } from "../../parse-document.ts";
import { type JsonResource, messageNameOf } from "../json-resource.ts";
import { keyOf, listOf, objectOf, textOf, valueOf, without } from "../messages-in-json.ts";

/** The content of a dump. */
export interface Dump {
  /** Without the fields that Envoy adds to it. */
  readonly bootstrap: JsonObject;
  readonly found: readonly DumpedResource[];
}

/** A resource that came from a server, or static endpoints. */
export interface DumpedResource extends JsonResource {
  /** true: Envoy does not use it yet, since it waits for resources that this one refers to. */
  readonly isWarming: boolean;
}

/** Reads the answer of `/config_dump`. Throws a fault for a text that is not one. */
export function readDump(text: string, registry: Registry): Dump {
  if (text.trim() === "") throw new Fault({ code: "empty-file", message: "is empty" });
  rejectFaultyJson(text);
  const json = JSON.parse(text) as JsonValue;
  canonicalJson(json, text.length + 1); // Rejects a text that is nested too deeply.
  const configs = isObject(json) ? json.configs : undefined;
  if (!Array.isArray(configs))
    throw new Fault({
      code: "not-a-message",
      message: "is not a dump: it has no list configs",
      hint: "give what /config_dump?include_eds of the admin page of Envoy answers",
    });
  const parts = configs.flatMap((part, index) =>
    isObject(part) ? [{ part, path: ["configs", index] as JsonPath }] : [],
  );
  const of = (name: string) =>
    parts.filter(({ part }) => textOf(part, "@type").endsWith(`/envoy.admin.v3.${name}`));
  const [first] = of("BootstrapConfigDump");
  const bootstrap = first && objectOf(first.part, "bootstrap");
  if (first === undefined || bootstrap === undefined)
    throw new Fault({
      code: "not-a-message",
      message: "has no bootstrap",
      hint: "give the whole dump, without resource= and mask=",
    });
  checkMessage(bootstrap, bootstrapName, [...first.path, "bootstrap"], registry);
  const node = objectOf(bootstrap, "node");
  if (node !== undefined)
    for (const field of reportedByEnvoy) Reflect.deleteProperty(node, keyOf(node, field));
  const found = rows.flatMap((row) =>
    of(row.dump).flatMap(({ part, path }) =>
      entriesOf(part, row.list, path).flatMap((entry, index) =>
        resourcesAt(entry, row, [...path, row.list, index], registry),
      ),
    ),
  );
  return { bootstrap, found };
}

/** The entries of a list of a dump. Throws a fault for another value. */
function entriesOf(part: JsonObject, list: string, path: JsonPath): readonly JsonObject[] {
  const value = valueOf(part, list);
  if (value !== undefined && value !== null && !Array.isArray(value))
    throw new Fault({
      code: "not-a-message",
      message: `is not a dump: ${fieldOf([...path, list])} is not a list`,
      hint: "give what /config_dump?include_eds of the admin page of Envoy answers",
    });
  return listOf(part, list);
}

/** Fields of its node that Envoy sets by itself. */
const reportedByEnvoy = [
  "user_agent_name",
  "user_agent_version",
  "user_agent_build_version",
  "extensions",
  "client_features",
  "listening_addresses",
];

function resourcesAt(
  entry: JsonObject,
  row: DumpRow,
  path: JsonPath,
  registry: Registry,
): readonly DumpedResource[] {
  let at: JsonValue | undefined = entry;
  for (const step of row.path) at = isObject(at) ? valueOf(at, step) : undefined;
  return [at].flat().flatMap((value) => {
    if (!isObject(value)) return [];
    const json = without(value, "@type");
    checkMessage(json, messageNameOf(row.type), [...path, ...row.path], registry);
    const name = textOf(json, row.type === clusterLoadAssignment ? "cluster_name" : "name");
    return [{ type: row.type, name, json, isWarming: row.isWarming === true }];
  });
}

/** Throws a fault for a message that is not valid, or of a type that the registry does not know. */
function checkMessage(json: JsonObject, name: string, path: JsonPath, registry: Registry): void {
  try {
    anyFromJson({ ...json, "@type": typeUrlOf(name) }, registry);
  } catch (error) {
    throw explainJsonError(error, { path, document: 0 }, registry, { isBootstrap: true });
  }
}

/** A list in a dump, and the resources in it. */
interface DumpRow {
  /** The message of the dump, below `envoy.admin.v3`. */
  readonly dump: string;
  readonly list: string;
  /** From an entry of the list to its resource, or to a list of resources. */
  readonly path: readonly string[];
  readonly type: ResourceType;
  readonly isWarming?: true;
}

const rows: readonly DumpRow[] = [
  {
    dump: "ClustersConfigDump",
    list: "dynamic_active_clusters",
    path: ["cluster"],
    type: cluster,
  },
  {
    dump: "ClustersConfigDump",
    list: "dynamic_warming_clusters",
    path: ["cluster"],
    type: cluster,
    isWarming: true,
  },
  {
    dump: "ListenersConfigDump",
    list: "dynamic_listeners",
    path: ["active_state", "listener"],
    type: listener,
  },
  {
    dump: "ListenersConfigDump",
    list: "dynamic_listeners",
    path: ["warming_state", "listener"],
    type: listener,
    isWarming: true,
  },
  {
    dump: "RoutesConfigDump",
    list: "dynamic_route_configs",
    path: ["route_config"],
    type: routeConfiguration,
  },
  {
    dump: "ScopedRoutesConfigDump",
    list: "dynamic_scoped_route_configs",
    path: ["scoped_route_configs"],
    type: scopedRouteConfiguration,
  },
  {
    dump: "EndpointsConfigDump",
    list: "dynamic_endpoint_configs",
    path: ["endpoint_config"],
    type: clusterLoadAssignment,
  },
  {
    dump: "EndpointsConfigDump",
    list: "static_endpoint_configs",
    path: ["endpoint_config"],
    type: clusterLoadAssignment,
  },
  { dump: "SecretsConfigDump", list: "dynamic_active_secrets", path: ["secret"], type: secret },
  {
    dump: "SecretsConfigDump",
    list: "dynamic_warming_secrets",
    path: ["secret"],
    type: secret,
    isWarming: true,
  },
  {
    dump: "EcdsConfigDump",
    list: "ecds_filters",
    path: ["ecds_filter"],
    type: typedExtensionConfig,
  },
];
