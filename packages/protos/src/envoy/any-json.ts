import type { JsonObject, JsonValue, Registry } from "@bufbuild/protobuf";
import { fromJson, toJson } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { pathOfJsonError } from "./path-of-json-error.ts";
import { ResourceJsonError } from "./resource-json-error.ts";
import { secrecyOfPath } from "./secrecy.ts";

/**
 * A resource from JSON, or from YAML once it is parsed: an object with `@type`. Field names may be in either case. For feeds and tools.
 *
 * The type URL of the result always begins with `type.googleapis.com/`. Throws a {@link ResourceJsonError} that names the place, the type or the field, and what is wrong with it, but of a Secret and of secret fields never the value; objects nested deeper than 100 are rejected (B-LIM-5).
 */
export function anyFromJson(json: JsonValue, registry: Registry): Any {
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw new ResourceJsonError([], `a resource is an object with "@type", not ${kindOf(json)}`);
  }
  if (typeof json["@type"] !== "string") {
    const example = '"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster"';
    throw new ResourceJsonError([], `a resource needs "@type", such as ${example}`);
  }
  try {
    return fromJson(AnySchema, json, { registry });
  } catch (cause) {
    throw explained(json, registry, cause);
  }
}

function kindOf(json: JsonValue): string {
  if (json === null) return "null";
  return Array.isArray(json) ? "a list" : `a ${typeof json}`;
}

/** Of what is secret the reason names the kind only, and the cause is left out: it shows the value. */
function explained(json: JsonObject, registry: Registry, cause: unknown): ResourceJsonError {
  const path = pathOfJsonError(json, registry);
  const reason = reasonOf(cause);
  const secrecy = secrecyOfPath(json, path, registry);
  if (secrecy === "none") return new ResourceJsonError(path, reason, { cause });
  const withoutKey = secrecy === "field" ? hideKey(reason, registry) : undefined;
  return withoutKey === undefined
    ? new ResourceJsonError(path, hideValues(reason))
    : new ResourceJsonError(path.slice(0, -1), withoutKey);
}

/**
 * A resource as canonical JSON with `@type`, to be shown or written. Fields that the registry does not know are left out.
 *
 * Throws an Error where the type, or that of an Any inside, is not in the registry, the bytes are not that type, or Anys are nested thousands deep.
 */
export function anyToJson(any: Any, registry: Registry): JsonValue {
  try {
    return toJson(AnySchema, any, { registry });
  } catch (cause) {
    throw new Error(`cannot write a resource of type ${any.typeUrl} as JSON: ${reasonOf(cause)}`, {
      cause,
    });
  }
}

const unknownType = /(\S+) is not in the type registry$/;

/** The text of an error of the protobuf library; for a type that is not known, with the way out. */
function reasonOf(error: unknown): string {
  if (isStackOverflow(error)) return "it is nested too deep";
  const reason = error instanceof Error ? error.message : String(error);
  const typeUrl = unknownType.exec(reason)?.[1]?.replaceAll('"', "");
  if (typeUrl === undefined) return reason;
  return `the type ${typeUrl} is not known; correct the name, or add the descriptors of the type (registryWith(), --descriptors FILE)`;
}

function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes("call stack");
}

const value = /( got |from JSON:? )(string|".*"|-?[\d.e+-]+n?|-?Infinity|NaN|true|false)$/s;
const outOfRange = /: [^:]* out of range$/s;
const unknownKey = /^cannot decode message (\S+) from JSON: key ".*" is unknown$/s;

/** A reason of the JSON reader that names the kind of what was found in place of the value (B-CSDS-7). */
function hideValues(reason: string): string {
  return reason
    .replace(outOfRange, ": a number out of range")
    .replace(value, (_, before: string, found: string) => before + kindOfText(found));
}

/** The reason for a key that is unknown, without the key, which may be a value in the wrong place; undefined: the reason is another one. */
function hideKey(reason: string, registry: Registry): string | undefined {
  const name = unknownKey.exec(reason)?.[1];
  if (name === undefined) return undefined;
  const fields = registry.getMessage(name)?.fields.map((field) => field.name) ?? [];
  return `a key is unknown; the fields of ${name} are ${fields.join(", ")}`;
}

function kindOfText(found: string): string {
  if (found === "true" || found === "false") return "a boolean";
  return found === "string" || found.startsWith('"') ? "a text" : "a number";
}
