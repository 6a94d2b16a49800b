import type { DescMessage, JsonObject, Registry } from "@bufbuild/protobuf";
import type { ResourceType } from "@xdstp/core";
import { cluster, listener, secret, shortNameOf } from "@xdstp/resource-types";
import { Fault } from "../folder-problem.ts";
import { listOf, objectOf, textOf } from "./messages-in-json.ts";
import type { Searched } from "./static-needs.ts";

/** A resource, named by its payload. */
export interface JsonResource {
  readonly type: ResourceType;
  readonly name: string;
  readonly json: JsonObject;
}

/** A list of static resources, and the fields of `dynamic_resources` that are another source of the type. */
interface StaticList {
  readonly type: ResourceType;
  readonly field: "listeners" | "clusters" | "secrets";
  readonly others: readonly string[];
}

/** The lists of static resources. */
export const staticLists: readonly StaticList[] = [
  { type: listener, field: "listeners", others: ["lds_config", "lds_resources_locator"] },
  { type: cluster, field: "clusters", others: ["cds_config", "cds_resources_locator"] },
  { type: secret, field: "secrets", others: [] },
];

/** The static resources of a bootstrap. */
export function staticOf(bootstrap: JsonObject): readonly JsonResource[] {
  const fixed = objectOf(bootstrap, "static_resources");
  return staticLists.flatMap(({ type, field }) =>
    listOf(fixed, field).map((json) => ({ type, name: textOf(json, "name"), json })),
  );
}

/** The type and name of a resource as one text. */
export function resourceKey({ type, name }: Pick<JsonResource, "type" | "name">): string {
  return `${type.typeUrl} ${name}`;
}

/** A resource as `clustersIn` and the like search it. Their places begin with its name: `cluster "web": `. */
export function searchedResource({ type, name, json }: JsonResource, registry: Registry): Searched {
  const within = `${nounOf(type)} ${JSON.stringify(name)}: `;
  return { json, desc: descOfType(type, registry), within };
}

/** The message of a type. */
export function descOfType(type: ResourceType, registry: Registry): DescMessage {
  return descOf(messageNameOf(type), registry);
}

/** A message by its name. Throws a fault where the registry does not have it. */
export function descOf(name: string, registry: Registry): DescMessage {
  const desc = registry.getMessage(name);
  if (desc === undefined)
    throw new Fault({ code: "unknown-type", message: `the registry has no ${name}` });
  return desc;
}

/** The name of the message of a type. */
export function messageNameOf({ typeUrl }: ResourceType): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}

/** `cluster` for clusters. */
export function nounOf({ typeUrl }: ResourceType): string {
  return (shortNameOf(typeUrl) ?? "resource").replace(/s$/, "");
}
