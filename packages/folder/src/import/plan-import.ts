import type { DescMessage, JsonObject, JsonValue, Registry } from "@bufbuild/protobuf";
import type { ResourceType } from "@xdstp/core";
import { anyFromJson, withoutSecrets } from "@xdstp/protos/envoy";
import { cluster, listener, secret, shortNameOf, typeUrlOf } from "@xdstp/resource-types";
import { isObject } from "../documents-of.ts";
import { bootstrapName } from "../check-bootstrap.ts";
import { Fault } from "../folder-problem.ts";
import { createFileNames } from "./file-of-name.ts";
import type { ImportConnection, Imported, ImportedFile, UnmovedResource } from "./imported.ts";
import {
  keyOf,
  listOf,
  messagesInJson,
  objectOf,
  textOf,
  valueOf,
  without,
} from "./messages-in-json.ts";
import { clustersIn, staticOnlyClusters, type Need, staticSecretsIn } from "./static-needs.ts";
import type { CommentedYaml } from "./yaml-with-comments.ts";

/** A resource, named by its payload. */
export interface JsonResource {
  readonly type: ResourceType;
  readonly name: string;
  readonly json: JsonObject;
}

/** What is divided into a folder and a bootstrap. */
export interface ImportSubject {
  /** In the JSON form of protobuf. It is changed. */
  readonly bootstrap: JsonObject;
  readonly registry: Registry;
  /** Writes parts of the bootstrap. */
  readonly yaml: CommentedYaml;
  readonly connection: ImportConnection;
  /** What came from a server before, next to what is static. */
  readonly dynamic: readonly JsonResource[];
  /** Whether static resources become files. If not, they stay, and the bootstrap gets only the connection. */
  readonly movesStatic: boolean;
}

/** The lists of static resources, and the field of `dynamic_resources` that is another source of the type. */
const lists = [
  { type: listener, field: "listeners", others: ["lds_config", "lds_resources_locator"] },
  { type: cluster, field: "clusters", others: ["cds_config", "cds_resources_locator"] },
  { type: secret, field: "secrets", others: [] },
] as const;

/** The source of what the folder holds. */
export const adsSource = (): JsonObject => ({ ads: {}, resource_api_version: "V3" });

type Plan = Pick<Imported, "files" | "bootstrap" | "kept" | "notes">;

/** Divides a configuration. `bootstrap` is what is left of it. */
export function planImport(subject: ImportSubject): Plan {
  const { bootstrap, registry, dynamic, movesStatic, yaml } = subject;
  dropConnection(subject);
  const notes = nameListeners(staticOf(bootstrap));
  const all = staticOf(bootstrap);
  const kept = movesStatic ? keptOf(all, subject) : [];
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

/** What a bootstrap got from an earlier call goes, so that a second one replaces it. */
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
    for (const field of ["ads_config", ...lists.flatMap(({ others }) => others)])
      Reflect.deleteProperty(dynamic, keyOf(dynamic, field));
}

/** Whether the ADS server of a bootstrap is reached by a cluster. */
export function leadsTo(dynamic: JsonObject | undefined, cluster: string): boolean {
  const ads = dynamic && objectOf(dynamic, "ads_config");
  return listOf(ads, "grpc_services").some(
    (one) => textOf(objectOf(one, "envoy_grpc") ?? {}, "cluster_name") === cluster,
  );
}

/** The static resources of a bootstrap. */
export function staticOf(bootstrap: JsonObject): readonly JsonResource[] {
  const fixed = objectOf(bootstrap, "static_resources");
  return lists.flatMap(({ type, field }) =>
    listOf(fixed, field).map((json) => ({ type, name: textOf(json, "name"), json })),
  );
}

/** A static listener may be without a name, a resource may not. */
function nameListeners(resources: readonly JsonResource[]): readonly string[] {
  const taken = new Set(resources.filter(({ type }) => type === listener).map(({ name }) => name));
  return resources.flatMap(({ type, name, json }) => {
    if (type !== listener || name !== "") return [];
    const address = objectOf(objectOf(json, "address") ?? {}, "socket_address");
    const port = valueOf(address ?? {}, "port_value");
    const place =
      address === undefined ? "" : `_${textOf(address, "address")}_${JSON.stringify(port ?? 0)}`;
    let free = `listener${place}`;
    for (let count = 2; taken.has(free); count++) free = `listener${place}_${count}`;
    taken.add(free);
    json.name = free;
    return [`A listener without a name is called ${JSON.stringify(free)}.`];
  });
}

/** Which static resources stay, and why. */
function keptOf(all: readonly JsonResource[], subject: ImportSubject): readonly UnmovedResource[] {
  const { registry, dynamic } = subject;
  const reasons = new Map<JsonResource, string>();
  for (const one of all) {
    const reason = ownReason(one, all, subject);
    if (reason !== undefined) reasons.set(one, reason);
  }
  // What stays may refer to more that has to stay.
  for (let before = -1; before !== reasons.size;) {
    before = reasons.size;
    const needed = needsOf(all, reasons, subject);
    for (const one of all) {
      const field = needed.get(resourceKey(one));
      if (field !== undefined && !reasons.has(one)) reasons.set(one, `${field} refers to it`);
    }
  }
  return Array.from(reasons, ([{ type, name }, reason]) => ({
    typeUrl: type.typeUrl,
    name,
    reason,
  }));

  function needsOf(
    resources: readonly JsonResource[],
    staying: ReadonlyMap<JsonResource, string>,
    { bootstrap }: ImportSubject,
  ): ReadonlyMap<string, string> {
    const rest = without(bootstrap, "static_resources");
    const whole = { json: rest, desc: descOf(bootstrapName, registry), within: "" };
    const stayed = resources
      .filter((one) => staying.has(one))
      .map((one) => searched(one, registry));
    const going = [...resources.filter((one) => !staying.has(one)), ...dynamic];
    const needs = (type: ResourceType, found: Iterable<Need>): (readonly [string, string])[] =>
      Array.from(found, ({ name, field }) => [resourceKey({ type, name }), field] as const);
    // The first place is the one that is reported.
    return new Map(
      [
        ...[whole, ...stayed].flatMap((one) => [
          ...needs(cluster, clustersIn(one, registry)),
          ...needs(secret, staticSecretsIn(one, registry)),
        ]),
        ...going.flatMap((one) =>
          needs(cluster, staticOnlyClusters(searched(one, registry), registry)),
        ),
      ].reverse(),
    );
  }
}

function searched({ type, name, json }: JsonResource, registry: Registry) {
  const noun = nounOf(type.typeUrl);
  return {
    json,
    desc: descOf(nameOfType(type), registry),
    within: `${noun} ${JSON.stringify(name)}: `,
  };
}

/** Why a resource cannot move, whatever refers to it. */
function ownReason(
  { type, name, json }: JsonResource,
  all: readonly JsonResource[],
  { bootstrap, registry, dynamic }: ImportSubject,
): string | undefined {
  const elsewhere = objectOf(bootstrap, "dynamic_resources");
  const source = lists
    .find((one) => one.type === type)
    ?.others.find((field) => elsewhere !== undefined && valueOf(elsewhere, field) !== undefined);
  if (source !== undefined)
    return `Envoy takes its ${shortNameOf(type.typeUrl) ?? ""} from dynamic_resources.${source}`;
  if (name === "") return "it has no name";
  if (name === "*" || name.startsWith("xdstp:")) return "its name is not an opaque one";
  if (all.filter((one) => one.type === type && one.name === name).length > 1)
    return `another ${nounOf(type.typeUrl)} has its name`;
  if (dynamic.some((one) => one.type === type && one.name === name))
    return `a ${nounOf(type.typeUrl)} that Envoy gets from a server has its name, and is served; rename one of them`;
  if (objectOf(json, "api_listener") !== undefined)
    return "Envoy has an api_listener only statically";
  if (type !== secret) return undefined;
  for (const message of messagesInJson(
    { json, desc: descOf(nameOfType(type), registry) },
    registry,
  )) {
    const file = textOf(message.json, "filename");
    if (message.desc.typeName === "envoy.config.core.v3.DataSource" && /^[^/]/.test(file))
      return `its file ${JSON.stringify(file)} counts from where Envoy is started; make the path absolute, or copy the file into the folder`;
  }
  return undefined;
}

/** A reference to a secret that is served says so. */
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
    for (const { name, message } of staticSecretsIn(searched(one, registry), registry))
      if (names.has(name)) message[keyOf(message, "sds_config")] = adsSource();
}

function removeStatic(bootstrap: JsonObject, gone: ReadonlySet<JsonValue>): void {
  const fixed = objectOf(bootstrap, "static_resources");
  if (fixed === undefined) return;
  for (const { field } of lists) {
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

/** Adds the way to the server. */
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

function resourceKey({ type, name }: Pick<JsonResource, "type" | "name">): string {
  return `${type.typeUrl} ${name}`;
}

/** `cluster` for clusters. */
function nounOf(typeUrl: string): string {
  return (shortNameOf(typeUrl) ?? "resource").replace(/s$/, "");
}

function nameOfType({ typeUrl }: ResourceType): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}

function descOf(name: string, registry: Registry): DescMessage {
  const desc = registry.getMessage(name);
  if (desc === undefined) throw new Error(`the registry has no ${name}`);
  return desc;
}
