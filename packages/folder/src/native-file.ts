import { basename } from "node:path";
import { fromBinary, type JsonObject, type JsonValue, type Registry } from "@bufbuild/protobuf";
import { fromText } from "@bufbuild/protobuf/txtpb";
import type { AnyBytes } from "@xdstp/core";
import { anyFromJson } from "@xdstp/protos/envoy";
import { ResourceSchema } from "@xdstp/protos/discovery";
import { ListCollectionSchema } from "@xdstp/protos/xds";
import { typeUrlOf } from "@xdstp/resource-types";
import { canonicalJson, isObject, shownReason } from "./documents-of.ts";
import { parseEnvoyYaml } from "./envoy-yaml.ts";
import { withWrappers } from "./folder-context.ts";
import { Fault, type FolderProblem, located, quote, reasonOf } from "./folder-problem.ts";
import { explainJsonError } from "./json-reason.ts";
import { parseJson } from "./parse-document.ts";
import { splitFileName } from "./place.ts";
import { problemOf, textOf } from "./read-file.ts";

/** The one resource of a file that a `file://` name leads to. */
export interface NativeFile {
  /** The version in the file. Empty: the file has none (C-NFILE-4). */
  readonly version: string;
  /** The resource. */
  readonly payload: AnyBytes;
}

/** The keys that a file may have; `name` is for people, since the path names the resource. */
const keys = new Set(["@type", "name", "version", "resource"]);

/**
 * Reads a file with one `Resource` message: name, version, and the resource with its `@type`
 * (C-NFILE-2). `envoy.service.discovery.v3.Resource` and `xds.core.v3.Resource` are read, so the
 * name may be a text or an object. The format is that of the extension; another extension is JSON.
 * Never throws an error for any content: a file that cannot be read is a problem, with file, line
 * and reason.
 *
 * @param file - The path, for the format and for the problem
 * @param registry - The types of the resources; binary files need none
 */
export function readNativeFile(
  file: string,
  bytes: Uint8Array,
  registry: Registry,
): NativeFile | { readonly problem: FolderProblem } {
  const format = splitFileName(basename(file))?.format ?? "json";
  let text = "";
  try {
    if (format !== "binary") text = textOf(bytes);
    if (format === "binary" ? bytes.length === 0 : text.trim() === "") throw empty();
    if (format === "binary") return fromMessage(() => fromBinary(ResourceSchema, bytes), reasonOf);
    if (format === "text")
      return fromMessage(() => fromText(ResourceSchema, text, { registry }), shownReason);
    const value = format === "json" ? parseJson(text) : parseEnvoyYaml(text).value;
    if (value === undefined) throw empty();
    return fromDocument(canonicalJson(value, 100_000 + 4 * text.length), registry);
  } catch (error) {
    return { problem: problemOf(error, file, text) };
  }
}

function fromMessage(
  read: () => {
    readonly version: string;
    readonly resource?: AnyBytes | undefined;
  },
  reason: (error: unknown) => string,
): NativeFile {
  let message: ReturnType<typeof read>;
  try {
    message = read();
  } catch (error) {
    throw new Fault({
      code: "syntax",
      message: `is not a valid ${ResourceSchema.typeName}: ${reason(error)}`,
    });
  }
  const { version, resource } = message;
  if (resource === undefined) throw noResource();
  return { version, payload: { typeUrl: resource.typeUrl, value: resource.value } };
}

function fromDocument(json: JsonValue, registry: Registry): NativeFile {
  if (!isObject(json)) throw notAResource([]);
  const unknown = Object.keys(json).find((key) => !keys.has(key));
  if (unknown !== undefined)
    throw new Fault({
      code: "unknown-field",
      message: `key ${quote(unknown)} is unknown`,
      path: [unknown],
      hint: `a file that a file:// name leads to has ${[...keys].slice(1).join(", ")}; write the fields of the message below resource`,
    });
  const { version = "", resource } = json;
  if (typeof version !== "string")
    throw new Fault({
      code: "wrong-value",
      message: `version is ${JSON.stringify(version)}, but has to be a text`,
      path: ["version"],
    });
  if (resource === undefined || resource === null) throw noResource();
  if (!isObject(resource)) throw notAResource(["resource"]);
  return { version, payload: payloadOf(resource, registry) };
}

function payloadOf(resource: JsonObject, registry: Registry): AnyBytes {
  const { "@type": stated } = resource;
  if (typeof stated !== "string")
    throw new Fault({
      code: "wrong-type",
      message: "the resource has no @type",
      path: ["resource"],
      hint: 'write "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, for example',
    });
  const typeUrl = typeUrlOf(stated.slice(stated.lastIndexOf("/") + 1));
  return located(
    () => {
      try {
        // The API declares the entries of some lists as one entry; a list of one has the same bytes.
        const read = Array.isArray(resource.entries) ? listUrl : typeUrl;
        const { value } = anyFromJson({ ...resource, "@type": read }, withLists(registry));
        return { typeUrl, value };
      } catch (error) {
        throw explainJsonError(error, { path: [] }, registry);
      }
    },
    { path: ["resource"] },
  );
}

const listUrl = typeUrlOf(ListCollectionSchema.typeName);
const wrapped = new WeakMap<Registry, Registry>();

/** Returns a registry with the type of lists, created once. */
function withLists(registry: Registry): Registry {
  const known = wrapped.get(registry) ?? withWrappers(registry);
  wrapped.set(registry, known);
  return known;
}

function empty(): Fault {
  return new Fault({
    code: "empty-file",
    message: "is empty",
    hint: "write version and resource as keys",
  });
}

function noResource(): Fault {
  return new Fault({
    code: "not-a-message",
    message: "has no resource",
    hint: "write the message below the key resource, with its @type",
  });
}

function notAResource(path: readonly string[]): Fault {
  return new Fault({
    code: "not-a-message",
    message: `does not hold an ${ResourceSchema.typeName}`,
    hint: "write version and resource as keys",
    path,
  });
}
