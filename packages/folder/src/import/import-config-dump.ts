import { isDeepStrictEqual } from "node:util";
import type { DescMessage, JsonObject, JsonValue, Registry } from "@bufbuild/protobuf";
import type { ResourceType } from "@xdstp/core";
import { anyFromJson } from "@xdstp/protos/envoy";
import {
  cluster,
  clusterLoadAssignment,
  listener,
  routeConfiguration,
  scopedRouteConfiguration,
  runtime,
  secret,
  shortNameOf,
  typedExtensionConfig,
  typeUrlOf,
} from "@xdstp/resource-types";
import { bootstrapName } from "../check-bootstrap.ts";
import { canonicalJson, isObject } from "../documents-of.ts";
import { folderContext } from "../folder-context.ts";
import { Fault, type JsonPath } from "../folder-problem.ts";
import { explainJsonError, fieldOf } from "../json-reason.ts";
import { rejectFaultyJson } from "../parse-document.ts";
import { problemOf } from "../read-file.ts";
import { asConfigured } from "./dumped-endpoints.ts";
import {
  failedImport,
  type ImportConnection,
  type Imported,
  type UnmovedResource,
} from "./imported.ts";
import {
  keyOf,
  listOf,
  type MessageInJson,
  messagesInJson,
  objectOf,
  textOf,
  valueOf,
  without,
} from "./messages-in-json.ts";
import { adsSource, type JsonResource, planImport, staticOf } from "./plan-import.ts";
import {
  clustersIn,
  secretReference,
  staticOnlyClusters,
  staticSecretsIn,
} from "./static-needs.ts";
import { plainYaml } from "./yaml-with-comments.ts";

/** What {@link importConfigDump} takes. */
export interface ConfigDumpOptions {
  /** The answer of `/config_dump?include_eds` of the admin page of an Envoy. */
  readonly text: string;
  /** Where it is from, for problems. */
  readonly file: string;
  /** `envoyRegistry()` of `@xdstp/protos/envoy`, or one that has more. */
  readonly registry: Registry;
  /** How Envoy reaches the server. */
  readonly connection: ImportConnection;
}

/**
 * Divides what a running Envoy has: its listeners, clusters, routes, endpoints and secrets, static or from a server, become files of a folder, and the rest of its bootstrap one that takes them from a server.
 * Secrets are redacted in a dump, and so are not imported. Never rejects: what is wrong with the dump is in `problems`.
 */
export function importConfigDump({
  text,
  file,
  registry,
  connection,
}: ConfigDumpOptions): Imported {
  try {
    const context = folderContext({ dir: ".", registry });
    const dump = readDump(text.replace(/^\uFEFF/, ""), context.registry);
    const { bootstrap } = dump;
    const { dynamic, missing, toFill } = usable(dump, context.registry);
    followSources(bootstrap, dynamic, missing, context.registry);
    const notes = dropOldServer(bootstrap, dynamic, context.registry);
    const rest = without(bootstrap, "static_resources");
    notes.push(...[...redactedFields(rest), ...toFill].map(toFillIn));
    const plan = planImport({
      bootstrap,
      registry: context.registry,
      yaml: plainYaml,
      connection,
      dynamic,
      movesStatic: true,
    });
    return { ...plan, notes: [...notes, ...plan.notes], missing, problems: [], warnings: [] };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return failedImport([problemOf(error, file, text)]);
  }
}

/** Where in a dump resources are. */
interface DumpRow {
  /** The message of the dump, below `envoy.admin.v3`. */
  readonly dump: string;
  readonly list: string;
  /** From an entry of the list to the resource, or a list of them. */
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

interface Dump {
  /** Without what an Envoy adds to its own. */
  readonly bootstrap: JsonObject;
  readonly found: readonly (JsonResource & { readonly isWarming: boolean })[];
}

/** Throws a fault for what is not a dump. */
function readDump(text: string, registry: Registry): Dump {
  if (text.trim() === "") throw new Fault({ code: "empty-file", message: "is empty" });
  rejectFaultyJson(text);
  const json = JSON.parse(text) as JsonValue;
  canonicalJson(json, text.length + 1); // Rejects what is too deep.
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
  const [held] = of("BootstrapConfigDump");
  const bootstrap = held && objectOf(held.part, "bootstrap");
  if (held === undefined || bootstrap === undefined)
    throw new Fault({
      code: "not-a-message",
      message: "has no bootstrap",
      hint: "give the whole dump, without resource= and mask=",
    });
  checkMessage(bootstrap, bootstrapName, [...held.path, "bootstrap"], registry);
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

/** The entries of a list of a dump. Throws a fault for what is not a list. */
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

/** What an Envoy puts into its node by itself. */
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
): Dump["found"] {
  let at: JsonValue | undefined = entry;
  for (const step of row.path) at = isObject(at) ? valueOf(at, step) : undefined;
  return [at].flat().flatMap((value) => {
    if (!isObject(value)) return [];
    const json = without(value, "@type");
    checkMessage(json, nameOfType(row.type), [...path, ...row.path], registry);
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

/** Leaves out what is redacted, was warming or has a name that is not opaque. */
function usable(
  { bootstrap, found }: Dump,
  registry: Registry,
): {
  readonly dynamic: readonly JsonResource[];
  readonly missing: UnmovedResource[];
  /** Fields of static resources that the bootstrap needs, which the dump does not show. */
  readonly toFill: readonly string[];
} {
  const missing: UnmovedResource[] = [];
  const dynamic = new Map<string, JsonResource>();
  const all = [...found, ...staticOf(bootstrap)];
  const endpoints = edsClusters(all);
  const ofServices = secretsOfServices(all, registry);
  for (const { isWarming, ...one } of found) {
    const { type, name, json } = one;
    if (type === clusterLoadAssignment && !endpoints.has(name)) continue; // Of a cluster that holds them itself.
    if (type === secret && ofServices.has(name)) continue;
    const key = `${type.typeUrl} ${name}`;
    const reason = unusable(one, isWarming);
    if (type === clusterLoadAssignment) asConfigured(json, endpoints.get(name));
    const other = dynamic.get(key);
    if (reason === undefined && other !== undefined && !isDeepStrictEqual(other.json, json))
      throw twoOfOneName(one, all, registry);
    if (reason === undefined) dynamic.set(key, { type, name, json });
    else missing.push({ typeUrl: type.typeUrl, name, reason });
  }
  const fixed = objectOf(bootstrap, "static_resources");
  const needed = neededStatic(bootstrap, all, registry);
  const toFill: string[] = [];
  for (const { type, name, json } of staticOf(bootstrap)) {
    if (!isRedacted(json)) continue;
    if (needed.has(`${type.typeUrl} ${name}`)) {
      const noun = (shortNameOf(type.typeUrl) ?? "resource").replace(/s$/, "");
      for (const field of redactedFields(json))
        toFill.push(`${noun} ${JSON.stringify(name)}: ${field}`);
      continue;
    }
    missing.push({ typeUrl: type.typeUrl, name, reason: redacted });
    for (const [key, list] of Object.entries(fixed ?? {}))
      if (fixed !== undefined && Array.isArray(list))
        fixed[key] = list.filter((one) => one !== json);
  }
  return { dynamic: [...dynamic.values()], missing, toFill };
}

/** The clusters that Envoy needs in its bootstrap, and the clusters and secrets that these need. */
function neededStatic(
  bootstrap: JsonObject,
  all: readonly JsonResource[],
  registry: Registry,
): ReadonlySet<string> {
  const rest = without(without(bootstrap, "static_resources"), "dynamic_resources");
  const ofResource = ({ type, json }: JsonResource) => ({
    json,
    desc: descOf(type, registry),
    within: "",
  });
  const whole = { json: rest, desc: messageOf(bootstrapName, registry), within: "" };
  const needed = new Set<string>();
  const waiting: string[] = [
    ...clustersIn(whole, registry),
    ...all.flatMap((one) => [...staticOnlyClusters(ofResource(one), registry)]),
  ].map(({ name }) => `${cluster.typeUrl} ${name}`);
  waiting.push(
    ...Array.from(staticSecretsIn(whole, registry), ({ name }) => `${secret.typeUrl} ${name}`),
  );
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    if (needed.has(key)) continue;
    needed.add(key);
    for (const one of staticOf(bootstrap)) {
      if (`${one.type.typeUrl} ${one.name}` !== key) continue;
      for (const { name } of clustersIn(ofResource(one), registry))
        waiting.push(`${cluster.typeUrl} ${name}`);
      for (const { name } of staticSecretsIn(ofResource(one), registry))
        waiting.push(`${secret.typeUrl} ${name}`);
    }
  }
  return needed;
}

/** Two sources may give different resources of one name; a server cannot. */
function twoOfOneName(
  { type, name }: JsonResource,
  all: readonly JsonResource[],
  registry: Registry,
): Fault {
  const fields = all.flatMap((one) =>
    Array.from(messagesInJson({ json: one.json, desc: descOf(one.type, registry) }, registry))
      .filter((message) =>
        sources.some(
          (row) =>
            row.message === message.desc.typeName &&
            row.type === type &&
            row.nameOf?.(message) === name,
        ),
      )
      .map(({ path }) => `${JSON.stringify(one.name)}: ${fieldOf(path)}`),
  );
  return new Fault({
    code: "duplicate-name",
    message: `has two ${shortNameOf(type.typeUrl) ?? "resources"} ${JSON.stringify(name)} that differ, from different sources`,
    hint: `give them different names where they are referred to: ${[...new Set(fields)].join(", ")}`,
  });
}

const toFillIn = (field: string): string =>
  `Fill in before Envoy starts with the bootstrap, since the dump does not show it: ${field}`;

/** Where redacted values are. */
function redactedFields(json: JsonValue, path: JsonPath = []): readonly string[] {
  if (typeof json !== "object" || json === null) return isRedacted(json) ? [fieldOf(path)] : [];
  if (Array.isArray(json))
    return json.flatMap((item, index) => redactedFields(item, [...path, index]));
  return Object.entries(json).flatMap(([key, value]) => redactedFields(value, [...path, key]));
}

const redacted = "the dump does not show its private keys and passwords; add a file that has them";

function unusable({ name, json }: JsonResource, isWarming: boolean): string | undefined {
  if (isWarming) return "it is warming: Envoy still waits for what it refers to";
  if (name === "") return "it has no name";
  if (name === "*") return 'its name is "*", which subscribes to all; give it another one';
  if (name.startsWith("xdstp:")) return "its name is not an opaque one";
  return isRedacted(json) ? redacted : undefined;
}

/** Envoy writes `[redacted]`, in fields of bytes in base64. */
function isRedacted(json: JsonValue): boolean {
  if (json === "[redacted]" || json === "W3JlZGFjdGVkXQ==") return true;
  return typeof json === "object" && json !== null && Object.values(json).some(isRedacted);
}

/** The clusters that subscribe to their endpoints, by the name of these. */
function edsClusters(resources: readonly JsonResource[]): ReadonlyMap<string, JsonObject> {
  return new Map(
    resources.flatMap(({ type, name, json }) => {
      const eds = type === cluster ? objectOf(json, "eds_cluster_config") : undefined;
      return eds === undefined ? [] : [[textOf(eds, "service_name") || name, json] as const];
    }),
  );
}

/** The names of secrets that have a service of their own, such as an agent next to Envoy: it gives each Envoy another one. */
function secretsOfServices(
  resources: readonly JsonResource[],
  registry: Registry,
): ReadonlySet<string> {
  return new Set(
    resources.flatMap(({ type, json }) =>
      Array.from(messagesInJson({ json, desc: descOf(type, registry) }, registry))
        .filter(({ desc }) => desc.typeName === secretReference)
        .filter((message) => isOwnSource(objectOf(message.json, "sds_config")))
        .map((message) => textOf(message.json, "name")),
    ),
  );
}

/** Whether a config source names a server or a file, and is not the stream that all share. */
function isOwnSource(source: JsonObject | undefined): boolean {
  return (
    source !== undefined &&
    ["api_config_source", "path_config_source", "path"].some(
      (field) => valueOf(source, field) !== undefined,
    )
  );
}

/** A message that says where another resource comes from. */
interface SourceRow {
  readonly message: string;
  readonly field: string;
  readonly type: ResourceType;
  /** The name of that resource. Absent: they are many. */
  readonly nameOf?: (message: MessageInJson) => string;
}

const manager = "envoy.extensions.filters.network.http_connection_manager.v3";

const sources: readonly SourceRow[] = [
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

/** What is in the folder comes from its server, whatever its source was. A secret with a service of its own stays there. */
function followSources(
  bootstrap: JsonObject,
  dynamic: readonly JsonResource[],
  missing: UnmovedResource[],
  registry: Registry,
): void {
  const has = new Set(dynamic.map(({ type, name }) => `${type.typeUrl} ${name}`));
  const known = new Set(missing.map(({ typeUrl, name }) => `${typeUrl} ${name}`));
  const fixed = staticOf(bootstrap);
  const staticSecrets = new Set(
    fixed.filter(({ type }) => type === secret).map(({ name }) => name),
  );
  const rest = without(without(bootstrap, "static_resources"), "dynamic_resources");
  const searched = [
    { json: rest, desc: messageOf(bootstrapName, registry) },
    ...[...fixed, ...dynamic].map(({ type, json }) => ({ json, desc: descOf(type, registry) })),
  ];
  for (const one of searched)
    for (const message of messagesInJson(one, registry)) {
      const row = sources.find((one) => one.message === message.desc.typeName);
      if (row === undefined) continue;
      const source = objectOf(message.json, row.field);
      // Without a source it is what the message itself holds; of a secret, a static one.
      if (source === undefined && row.type !== secret) continue;
      const isOwn = isOwnSource(source);
      const name = row.nameOf?.(message) ?? "";
      if (row.type === secret && (isOwn || (source === undefined && staticSecrets.has(name))))
        continue;
      if (row.type === runtime && isOwn) continue;
      const key = `${row.type.typeUrl} ${name}`;
      const isFound =
        row.nameOf === undefined ? dynamic.some((one) => one.type === row.type) : has.has(key);
      if (isFound || !isOwn)
        message.json[keyOf(message.json, row.field)] = { ...timeoutOf(source), ...adsSource() };
      if (isFound || known.has(key) || row.nameOf === undefined) continue;
      known.add(key);
      missing.push({ typeUrl: row.type.typeUrl, name, reason: absentReason(row.type) });
    }
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

/** The server before, and the static clusters that only lead to it. */
function dropOldServer(
  bootstrap: JsonObject,
  dynamic: readonly JsonResource[],
  registry: Registry,
): string[] {
  const key = keyOf(bootstrap, "dynamic_resources");
  const old = bootstrap[key];
  if (!isObject(old)) return [];
  const desc = messageOf(bootstrapName, registry);
  const before = { json: { [key]: old }, desc, within: "" };
  const candidates = new Set(Array.from(clustersIn(before, registry), ({ name }) => name));
  Reflect.deleteProperty(bootstrap, key);
  const fixed = objectOf(bootstrap, "static_resources");
  const rest = without(bootstrap, "static_resources");
  const own = staticOf(bootstrap).filter(
    ({ type, name }) => type === cluster && candidates.has(name),
  );
  const needed = new Set(
    [
      { json: rest, desc, within: "" },
      ...[...dynamic, ...staticOf(bootstrap)]
        .filter((one) => !own.some(({ json }) => json === one.json))
        .map(({ type, json }) => ({ json, desc: descOf(type, registry), within: "" })),
    ].flatMap((one) => Array.from(clustersIn(one, registry), ({ name }) => name)),
  );
  const gone = own.filter(({ name }) => !needed.has(name));
  if (fixed !== undefined && gone.length > 0)
    fixed.clusters = listOf(fixed, "clusters").filter(
      (json) => !gone.some((one) => one.json === json),
    );
  const names = gone.map(({ name }) => JSON.stringify(name)).join(", ");
  return gone.length === 0
    ? []
    : [`Left out is the static cluster ${names}, which only led to the server before.`];
}

function descOf(type: ResourceType, registry: Registry): DescMessage {
  return messageOf(nameOfType(type), registry);
}

function nameOfType({ typeUrl }: ResourceType): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}

function messageOf(name: string, registry: Registry): DescMessage {
  const desc = registry.getMessage(name);
  if (desc === undefined)
    throw new Fault({ code: "unknown-type", message: `the registry has no ${name}` });
  return desc;
}
