import type { JsonObject, JsonValue, Registry } from "@bufbuild/protobuf";
import { anyFromJson, withoutSecrets } from "@xdstp/protos/envoy";
import { listener, secret, typeUrlOf } from "@xdstp/resource-types";
import { bootstrapName } from "../check-bootstrap.ts";
import { isObject } from "../documents-of.ts";
import { Fault } from "../folder-problem.ts";
import { createFileNames } from "./file-of-name.ts";
import type { ImportConnection, Imported, ImportedFile, UnmovedResource } from "./imported.ts";
import {
  type JsonResource,
  resourceKey,
  searchedResource,
  staticLists,
  staticOf,
} from "./json-resource.ts";
import { keptResources } from "./kept-resources.ts";
import { keyOf, listOf, objectOf, textOf, valueOf } from "./messages-in-json.ts";
import { staticSecretsIn } from "./static-needs.ts";
import type { CommentedYaml } from "./yaml-with-comments.ts";

/** A configuration to divide into a folder and a bootstrap. */
export interface ImportSubject {
  /** In the JSON form of protobuf. It is changed. */
  readonly bootstrap: JsonObject;
  readonly registry: Registry;
  /** Writes parts of the bootstrap. */
  readonly yaml: CommentedYaml;
  readonly connection: ImportConnection;
  /** Resources that came from a server before. */
  readonly dynamic: readonly JsonResource[];
  /** true: static resources become files. false: they stay, and only the connection is added to the bootstrap. */
  readonly movesStatic: boolean;
}

/** The config source of resources in the folder. */
export const adsSource = (): JsonObject => ({ ads: {}, resource_api_version: "V3" });

type Plan = Pick<Imported, "files" | "bootstrap" | "kept" | "notes">;

/** Divides a configuration. Changes `bootstrap` of the subject to the part that remains. */
export function planImport(subject: ImportSubject): Plan {
  const { bootstrap, registry, dynamic, movesStatic, yaml } = subject;
  dropConnection(subject);
  const notes = nameListeners(staticOf(bootstrap));
  const all = staticOf(bootstrap);
  const kept = movesStatic ? keptResources({ bootstrap, registry, fixed: all, dynamic }) : [];
  const isKept = keysOf(kept);
  const moved = movesStatic ? all.filter((one) => !isKept.has(resourceKey(one))) : [];
  const served = [...moved, ...dynamic];
  if (movesStatic) {
    takeSecretsFromServer(served, isKept, subject);
    removeStatic(bootstrap, new Set(moved.map(({ json }) => json)));
  }
  const fileOf = createFileNames();
  const files = served.map((one) => fileFor(one, fileOf(one.type.typeUrl, one.name), subject));
  return {
    files,
    kept,
    notes: [...notes, ...connect(subject)],
    bootstrap: {
      text: yaml.writeWhole(bootstrap),
      isSecret: hasSecret(bootstrap, typeUrlOf(bootstrapName), registry),
    },
  };
}

/** Removes the connection that an earlier import added, so that this one replaces it. */
function dropConnection({ bootstrap, connection }: ImportSubject): void {
  const fixed = objectOf(bootstrap, "static_resources");
  const name = textOf(connection.cluster, "name");
  const before = listOf(fixed, "clusters").find((one) => textOf(one, "name") === name);
  if (before === undefined) return;
  const dynamic = objectOf(bootstrap, "dynamic_resources");
  if (!leadsTo(dynamic, name))
    throw new Fault({
      code: "duplicate-name",
      message: `static_resources.clusters: ${JSON.stringify(name)} is the name of the cluster that leads to the server`,
      hint: "give yours another name",
    });
  removeStatic(bootstrap, new Set([before]));
  if (dynamic !== undefined)
    for (const field of ["ads_config", ...staticLists.flatMap(({ others }) => others)])
      Reflect.deleteProperty(dynamic, keyOf(dynamic, field));
}

/** Returns true if Envoy connects to the ADS server of a bootstrap through a cluster. */
export function leadsTo(dynamic: JsonObject | undefined, cluster: string): boolean {
  const ads = dynamic && objectOf(dynamic, "ads_config");
  return listOf(ads, "grpc_services").some(
    (one) => textOf(objectOf(one, "envoy_grpc") ?? {}, "cluster_name") === cluster,
  );
}

/** Names listeners without a name, since a resource needs one. */
function nameListeners(resources: readonly JsonResource[]): readonly string[] {
  const taken = new Set(resources.filter(({ type }) => type === listener).map(({ name }) => name));
  /** The number of names that are known to be taken, by address. */
  const counts = new Map<string, number>();
  return resources.flatMap(({ type, name, json }) => {
    if (type !== listener || name !== "") return [];
    const address = objectOf(objectOf(json, "address") ?? {}, "socket_address");
    const port = valueOf(address ?? {}, "port_value");
    const place =
      address === undefined ? "" : `_${textOf(address, "address")}_${JSON.stringify(port ?? 0)}`;
    const first = `listener${place}`;
    let count = counts.get(first) ?? 0;
    let free: string;
    do {
      count++;
      free = count === 1 ? first : `${first}_${count}`;
    } while (taken.has(free));
    counts.set(first, count);
    taken.add(free);
    json.name = free;
    return [`A listener without a name is called ${JSON.stringify(free)}.`];
  });
}

/** Gives the references to served secrets a config source. */
function takeSecretsFromServer(
  served: readonly JsonResource[],
  isKept: ReadonlySet<string>,
  { registry }: ImportSubject,
): void {
  const names = new Set(
    served
      .filter((one) => one.type === secret && !isKept.has(resourceKey(one)))
      .map(({ name }) => name),
  );
  for (const one of served)
    for (const { name, message } of staticSecretsIn(searchedResource(one, registry), registry))
      if (names.has(name)) message[keyOf(message, "sds_config")] = adsSource();
}

function removeStatic(bootstrap: JsonObject, gone: ReadonlySet<JsonValue>): void {
  const fixed = objectOf(bootstrap, "static_resources");
  if (fixed === undefined) return;
  for (const { field } of staticLists) {
    const key = keyOf(fixed, field);
    const list = fixed[key];
    if (!Array.isArray(list)) continue;
    // In place, so that the list keeps its comments.
    list.splice(0, list.length, ...list.filter((one) => !gone.has(one)));
    if (list.length === 0) Reflect.deleteProperty(fixed, key);
  }
}

function fileFor(
  { type, name, json }: JsonResource,
  { path, hasName }: { readonly path: string; readonly hasName: boolean },
  { yaml, registry }: ImportSubject,
): ImportedFile {
  return {
    path,
    typeUrl: type.typeUrl,
    name,
    text: yaml.write(hasName ? json : { resources: [json] }),
    isSecret: type === secret || hasSecret(json, type.typeUrl, registry),
  };
}

function hasSecret(json: JsonObject, typeUrl: string, registry: Registry): boolean {
  const any = anyFromJson({ ...json, "@type": typeUrl }, registry);
  return withoutSecrets(any, registry) !== any;
}

/** Adds the connection to the server. */
function connect({ bootstrap, connection }: ImportSubject): readonly string[] {
  const notes: string[] = [];
  const node = ensureObject(bootstrap, "node");
  for (const field of ["id", "cluster"]) {
    const own = textOf(connection.node, field);
    if (textOf(node, field) !== "" || own === "") continue;
    node[field] = own;
    notes.push(
      `The node had no ${field}, which Envoy needs to use a server: it is ${JSON.stringify(own)}.`,
    );
  }
  if (connection.admin !== undefined) bootstrap.admin = connection.admin;
  const dynamic = ensureObject(bootstrap, "dynamic_resources");
  for (const [field, value] of Object.entries(connection.dynamicResources))
    if (valueOf(dynamic, field) === undefined) dynamic[field] = value;
  const fixed = ensureObject(bootstrap, "static_resources");
  const key = keyOf(fixed, "clusters");
  const clusters = fixed[key];
  if (Array.isArray(clusters)) clusters.push(connection.cluster);
  else fixed[key] = [connection.cluster];
  return notes;
}

function ensureObject(json: JsonObject, field: string): JsonObject {
  const key = keyOf(json, field);
  const value = json[key];
  if (isObject(value)) return value;
  const made: JsonObject = {};
  json[key] = made;
  return made;
}

function keysOf(resources: readonly UnmovedResource[]): ReadonlySet<string> {
  return new Set(resources.map(({ typeUrl, name }) => `${typeUrl} ${name}`));
}
