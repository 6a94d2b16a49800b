import type { JsonObject, JsonValue, Registry } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { hideKey, hideValues } from "./hide-values.ts";
import { pathOfJsonError } from "./path-of-json-error.ts";
import { reasonOf } from "./reason-of.ts";
import { ResourceJsonError } from "./resource-json-error.ts";
import { secrecyOfPath } from "./secrecy-of-path.ts";

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
