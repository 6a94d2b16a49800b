import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { canonicalJson, isObject } from "../../documents-of.ts";
import { Fault, type FolderProblem, quote } from "../../folder-problem.ts";
import { parseJson, parseYaml } from "../../parse-document.ts";
import { problemOf } from "../../read-file.ts";
import { type KubernetesObject, notImported, type ObjectReport, rootOf } from "./object-node.ts";

/** The text of a file with objects of Kubernetes. */
export interface ObjectFile {
  /** As it is shown in problems. JSON where it ends with `.json`, else YAML. */
  readonly file: string;
  /** Its content: one object or several. */
  readonly text: string;
}

/** The objects of all files. */
export interface KubernetesObjects {
  /** Those of a kind, in the order of the files. */
  of(kind: ObjectKind): readonly KubernetesObject[];
  /** One by its name. */
  get(kind: ObjectKind, namespace: string, name: string): KubernetesObject | undefined;
  /** Notes that something served comes from an object. */
  use(object: KubernetesObject): void;
  /** Returns true if {@link use} was called with this object. */
  isUsed(object: KubernetesObject): boolean;
}

const gatewayGroup = "gateway.networking.k8s.io";

/** A kind of object that the import reads. */
export type ObjectKind =
  | "Gateway"
  | "GatewayClass"
  | "HTTPRoute"
  | "GRPCRoute"
  | "TLSRoute"
  | "TCPRoute"
  | "UDPRoute"
  | "ReferenceGrant"
  | "BackendTLSPolicy"
  | "Service"
  | "Endpoints"
  | "EndpointSlice"
  | "Secret"
  | "ConfigMap"
  | "Namespace";

/** The API group of each kind; empty for the core group. */
export const groupOfKind: Readonly<Record<ObjectKind, string>> = {
  Gateway: gatewayGroup,
  GatewayClass: gatewayGroup,
  HTTPRoute: gatewayGroup,
  GRPCRoute: gatewayGroup,
  TLSRoute: gatewayGroup,
  TCPRoute: gatewayGroup,
  UDPRoute: gatewayGroup,
  ReferenceGrant: gatewayGroup,
  BackendTLSPolicy: gatewayGroup,
  Service: "",
  Endpoints: "",
  EndpointSlice: "discovery.k8s.io",
  Secret: "",
  ConfigMap: "",
  Namespace: "",
};

const withoutNamespace: ReadonlySet<string> = new Set(["GatewayClass", "Namespace"]);

/** Reads the objects of files: YAML with any number of documents, JSON, and lists of objects. What is not one, and kinds that are not read, are reported. */
export function readObjects(
  files: readonly ObjectFile[],
  report: ObjectReport,
): { readonly objects: KubernetesObjects; readonly problems: readonly FolderProblem[] } {
  const problems: FolderProblem[] = [];
  const read: KubernetesObject[] = [];
  for (const { file, text } of files) {
    try {
      for (const [document, json] of documentsIn(file, text).entries())
        read.push(...objectsIn(json, { file, document, path: [], report }));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      problems.push(problemOf(error, file, text));
    }
  }
  return { objects: indexed(read), problems };
}

function documentsIn(file: string, text: string): readonly JsonValue[] {
  const plain = text.replace(/^\uFEFF/, "");
  if (plain.trim() === "") throw new Fault({ code: "empty-file", message: "is empty" });
  // `kubectl` reads merge keys.
  const parsed = file.endsWith(".json")
    ? [parseJson(plain)]
    : parseYaml(plain, { mergesKeys: true });
  return parsed.map((value) => canonicalJson(value, 100_000 + 4 * plain.length));
}

type Place = Pick<KubernetesObject, "file" | "document" | "path" | "report">;

/** The object of a document, or those of a list. Throws a fault for what is neither. */
function objectsIn(json: JsonValue, place: Place): readonly KubernetesObject[] {
  if (json === null) return [];
  if (!isObject(json)) throw notAnObject(place, "holds a value where an object is expected");
  const kind = textAt(json, "kind", place);
  const [version = "", group = ""] = textAt(json, "apiVersion", place).split("/").reverse();
  if (kind.endsWith("List") && Array.isArray(json.items))
    return json.items.flatMap((item, at) =>
      objectsIn(inList(item, kind, version, group), {
        ...place,
        path: [...place.path, "items", at],
      }),
    );
  const metadata = json.metadata;
  if (!isObject(metadata)) throw notAnObject(place, `${kind} has no metadata`);
  const name = textAt(metadata, "name", { ...place, path: [...place.path, "metadata"] });
  const { namespace, creationTimestamp } = metadata;
  const object: KubernetesObject = {
    ...place,
    group,
    kind,
    namespace: withoutNamespace.has(kind) ? "" : textOr(namespace, "default"),
    name,
    created: textOr(creationTimestamp, ""),
    json,
  };
  return isRead(object) ? [object] : [];
}

/** The items of a `SecretList` need not say what they are. */
function inList(item: JsonValue, kind: string, version: string, group: string): JsonValue {
  if (!isObject(item) || kind === "List" || item.kind !== undefined) return item;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return { apiVersion, ...item, kind: kind.replace(/List$/, "") };
}

function isRead(object: KubernetesObject): boolean {
  const { kind, group } = object;
  if (Object.hasOwn(groupOfKind, kind) && groupOfKind[kind as ObjectKind] === group) return true;
  const shown = group === "" ? kind : `${kind} of ${group}`;
  notImported(rootOf(object), `the kind ${quote(shown)} is not read`, wayOutOf(object));
  return false;
}

function wayOutOf({ kind, group }: KubernetesObject): string {
  if (group === "gateway.envoyproxy.io" || kind === "ListenerSet" || kind === "XListenerSet")
    return "change the written files where they need what it says";
  return "leave it out of the files if traffic does not depend on it";
}

function textAt(json: JsonObject, key: string, { document, path }: Place): string {
  const value = json[key];
  if (typeof value === "string" && value !== "") return value;
  throw new Fault({
    code: "not-a-message",
    message: `holds no object of Kubernetes: ${key} is ${value === undefined ? "missing" : "not a text"}`,
    hint: "give objects as `kubectl get -o yaml` writes them",
    document,
    path: value === undefined ? path : [...path, key],
  });
}

function textOr(value: JsonValue | undefined, usual: string): string {
  return typeof value === "string" && value !== "" ? value : usual;
}

function notAnObject({ document, path }: Place, message: string): Fault {
  return new Fault({
    code: "not-a-message",
    message,
    hint: "give objects as `kubectl get -o yaml` writes them",
    document,
    path,
  });
}

/** An object that occurs twice is reported. */
function indexed(read: readonly KubernetesObject[]): KubernetesObjects {
  const byKind = new Map<string, Map<string, KubernetesObject>>();
  for (const object of read) {
    const { kind, namespace, name } = object;
    const named = byKind.get(kind) ?? new Map<string, KubernetesObject>();
    byKind.set(kind, named);
    const key = `${namespace}/${name}`;
    const before = named.get(key);
    if (before === undefined) named.set(key, object);
    else
      object.report.add(rootOf(object), {
        code: "duplicate-name",
        message: `is also in ${before.file}, document ${before.document + 1}`,
        hint: "keep one of them",
      });
  }
  const used = new Set<KubernetesObject>();
  return {
    use: (object) => used.add(object),
    isUsed: (object) => used.has(object),
    of: (kind) => [...(byKind.get(kind)?.values() ?? [])],
    get: (kind, namespace, name) => byKind.get(kind)?.get(`${namespace}/${name}`),
  };
}
