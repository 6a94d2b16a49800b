import { create, fromBinary, type JsonObject, toJson } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { contentVersion } from "@xdstp/cache";
import { type AnyBytes, type Resource, XdsError } from "@xdstp/core";
import {
  DynamicParameterConstraintsSchema,
  MetadataSchema,
  Resource_CacheControlSchema,
  ResourceNameSchema,
  ResourceSchema,
} from "@xdstp/protos/discovery";
import { envoyTypes } from "@xdstp/resource-types";
import { parseName } from "@xdstp/uri";
import { yamlText } from "./yaml-text.ts";
import type { ResourceView, ViewOptions } from "./resource-view.ts";

/** The properties of a resource in addition to its payload. */
export type ResourceFacts = Pick<
  Resource,
  "name" | "aliases" | "ttlMs" | "noStore" | "constraints" | "metadata"
> & {
  /** The type URL of the payload. A redirect has another type than the requested one. */
  readonly payloadUrl: string;
};

/** The properties of the received resources, by name and by alias. */
export interface FactsByName {
  /** Stores the properties of a resource. It is the `validate` function of a watch. */
  readonly note: (value: unknown, resource: Resource) => undefined;
  readonly of: (name: string) => ResourceFacts | undefined;
}

/** Creates an empty table. */
export function createFacts(): FactsByName {
  const known = new Map<string, ResourceFacts>();
  return {
    note(_, { name, payload, aliases, ttlMs, noStore, constraints, metadata }) {
      const facts = {
        name,
        payloadUrl: payload.typeUrl,
        ...(aliases !== undefined && { aliases }),
        ...(ttlMs !== undefined && { ttlMs }),
        ...(noStore !== undefined && { noStore }),
        ...(constraints !== undefined && { constraints }),
        ...(metadata !== undefined && { metadata }),
      };
      for (const one of [name, ...(aliases ?? [])]) known.set(one, facts);
    },
    of: (name) => known.get(name),
  };
}

/** A resource with its properties. */
export interface FiledResource {
  readonly name: string;
  readonly version: string;
  readonly payload: AnyBytes;
  /** Absent: the name leads to another resource, or only the payload is known. */
  readonly facts?: ResourceFacts | undefined;
}

/**
 * Returns the YAML of a file in a served folder that results in exactly this resource. If the payload is enough, it is only the payload.
 * Else it is an `envoy.service.discovery.v3.Resource` with the context parameters, TTL, aliases, constraints, metadata, and a version that its author has chosen.
 * @param isAlone - true: the file has no other resource, so that its path gives the name
 */
export function fileYaml(
  resource: FiledResource,
  view: ResourceView,
  options: Pick<ViewOptions, "registry">,
  isAlone: boolean,
): string {
  const wrapper = wrapperOf(resource, options, view, isAlone);
  return wrapper === undefined ? view.yaml : yamlText({ ...wrapper, resource: view.json });
}

/** Returns the fields of the `Resource` message around the payload, without the payload. Returns `undefined` if the payload is enough. */
export function wrapperOf(
  { name, version, payload, facts }: FiledResource,
  { registry }: Pick<ViewOptions, "registry">,
  { json }: Pick<ResourceView, "json">,
  isAlone: boolean,
): JsonObject | undefined {
  if (facts === undefined) return undefined;
  const { aliases = [], ttlMs, noStore = false, constraints, metadata } = facts;
  const label = version === contentVersion({ payload, ...facts }) ? "" : version;
  const isVariant = constraints !== undefined && constraints.length > 0;
  const isNamed = hasParameters(name) || (!isAlone && !namesItself(payload, json, name));
  const isPlain =
    label === "" && aliases.length === 0 && ttlMs === undefined && !noStore && !isVariant;
  if (isPlain && metadata === undefined && !isNamed) return undefined;
  try {
    const message = create(ResourceSchema, {
      name: isVariant ? "" : name,
      version: label,
      aliases: [...aliases],
      ...(isVariant && {
        resourceName: create(ResourceNameSchema, {
          name,
          dynamicParameterConstraints: fromBinary(DynamicParameterConstraintsSchema, constraints),
        }),
      }),
      ...(ttlMs !== undefined && {
        ttl: create(DurationSchema, {
          seconds: BigInt(Math.floor(ttlMs / 1_000)),
          nanos: (ttlMs % 1_000) * 1e6,
        }),
      }),
      ...(noStore && { cacheControl: create(Resource_CacheControlSchema, { doNotCache: true }) }),
      ...(metadata !== undefined && { metadata: fromBinary(MetadataSchema, metadata) }),
    });
    return toJson(ResourceSchema, message, { registry, useProtoFieldName: true }) as JsonObject;
  } catch (error) {
    throw XdsError.from(error);
  }
}

function hasParameters(name: string): boolean {
  const parsed = parseName(name);
  return parsed.ok && parsed.value.contextParams.size > 0;
}

/** Returns true if the payload contains the name, in the name field of its type. In a file with several resources, the name of each has to be written in it. */
function namesItself({ typeUrl }: AnyBytes, json: ResourceView["json"], name: string): boolean {
  return (
    envoyTypes.some((type) => type.typeUrl === typeUrl && type.nameField !== 0) &&
    typeof json === "object" &&
    json !== null &&
    !Array.isArray(json) &&
    (json.name === name || json.cluster_name === name)
  );
}
