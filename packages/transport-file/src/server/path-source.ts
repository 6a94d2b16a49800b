import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import {
  clusterLoadAssignment,
  routeConfiguration,
  secret,
  typedExtensionConfig,
} from "@xdstp/resource-types";

/** Returns an `envoy.config.core.v3.ConfigSource` in JSON that reads a file. */
export function pathSource(path: string): JsonObject {
  return { path_config_source: { path }, resource_api_version: "V3" };
}

/** A name that a resource refers to, with the type of the named resource. */
export interface NamedFile {
  readonly typeUrl: string;
  readonly name: string;
}

/** A resource whose ConfigSources are files. */
export interface Rewired {
  readonly json: JsonObject;
  /** The resources that it reads from files. */
  readonly files: readonly NamedFile[];
  /** The fields with a ConfigSource of the server that cannot be a file, such as `scoped_routes.rds_config_source`. */
  readonly left: readonly string[];
}

/**
 * Returns a resource of Envoy, in JSON with proto field names, in which each ConfigSource `ads` or `self` next to a name is the file of that name.
 * Other ConfigSources stay as they are: these resources come from elsewhere.
 *
 * @param pathOf - Returns the path of a named resource
 */
export function rewire(json: JsonObject, pathOf: (file: NamedFile) => string): Rewired {
  const rewiring: Rewiring = { files: [], left: [], pathOf };
  return { json: objectOf(json, [], rewiring), files: rewiring.files, left: rewiring.left };
}

interface Rewiring {
  readonly files: NamedFile[];
  readonly left: string[];
  readonly pathOf: (file: NamedFile) => string;
}

/** The place of a ConfigSource and of the name next to it: in the same object, or in the object around it. */
interface Place {
  readonly typeUrl: string;
  readonly nameIn: (object: JsonObject, around: JsonObject) => JsonValue | undefined;
}

const places: Readonly<Record<string, Place>> = {
  eds_config: {
    typeUrl: clusterLoadAssignment.typeUrl,
    nameIn: ({ service_name: service }, { name }) => service ?? name,
  },
  sds_config: { typeUrl: secret.typeUrl, nameIn: ({ name }) => name },
};

function placeOf(key: string, object: JsonObject): Place | undefined {
  if (key !== "config_source") return places[key];
  return "route_config_name" in object
    ? { typeUrl: routeConfiguration.typeUrl, nameIn: ({ route_config_name: name }) => name }
    : { typeUrl: typedExtensionConfig.typeUrl, nameIn: (_, { name }) => name };
}

function objectOf(
  object: JsonObject,
  path: readonly string[],
  rewiring: Rewiring,
  around: JsonObject = {},
): JsonObject {
  const entries = Object.entries(object).map(([key, value]): [string, JsonValue] => {
    const below = [...path, key];
    if (!isOfServer(value)) return [key, valueOf(value, below, rewiring, object)];
    const place = placeOf(key, object);
    const name = place?.nameIn(object, around);
    if (place === undefined || typeof name !== "string" || name === "") {
      rewiring.left.push(below.join("."));
      return [key, value];
    }
    const file = { typeUrl: place.typeUrl, name };
    rewiring.files.push(file);
    const { initial_fetch_timeout: timeout } = value;
    return [
      key,
      {
        ...pathSource(rewiring.pathOf(file)),
        ...(timeout !== undefined && { initial_fetch_timeout: timeout }),
      },
    ];
  });
  return Object.fromEntries(entries);
}

function valueOf(
  value: JsonValue,
  path: readonly string[],
  rewiring: Rewiring,
  around: JsonObject,
): JsonValue {
  if (Array.isArray(value))
    return value.map((item, index) =>
      valueOf(item, [...path.slice(0, -1), `${path.at(-1) ?? ""}[${String(index)}]`], rewiring, {}),
    );
  return isObject(value) ? objectOf(value, path, rewiring, around) : value;
}

/** Returns true for a ConfigSource `ads` or `self`: an object with this empty message and nothing else than settings of the ConfigSource. */
function isOfServer(value: JsonValue): value is JsonObject {
  if (!isObject(value) || !(isObject(value.ads) || isObject(value.self))) return false;
  return Object.keys(value).every((key) => configSourceKeys.has(key));
}

const configSourceKeys: ReadonlySet<string> = new Set([
  "ads",
  "self",
  "resource_api_version",
  "initial_fetch_timeout",
]);

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
