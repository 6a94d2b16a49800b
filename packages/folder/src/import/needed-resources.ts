import type { JsonObject, Registry } from "@bufbuild/protobuf";
import type { ResourceType } from "@xdstp/core";
import { cluster, secret } from "@xdstp/resource-types";
import { bootstrapName } from "../check-bootstrap.ts";
import { descOf, type JsonResource, resourceKey, searchedResource } from "./json-resource.ts";
import {
  clustersIn,
  type Need,
  type Searched,
  staticOnlyClusters,
  staticSecretsIn,
} from "./static-needs.ts";

/** The parts of a configuration that {@link neededResources} searches. */
export interface NeedingParts {
  /** The bootstrap without its static resources. */
  readonly rest: JsonObject;
  readonly fixed: readonly JsonResource[];
  /** Those of `fixed` that stay in the bootstrap, whatever refers to them. */
  readonly staying: readonly JsonResource[];
  /** Resources that are served and were not static. */
  readonly dynamic: readonly JsonResource[];
  readonly registry: Registry;
}

/**
 * Returns the clusters and secrets that Envoy needs in its bootstrap, by their keys, with the first field that refers to each: those of other parts that stay in it, and those that Envoy accepts only from there.
 * Each resource is searched twice at most, however long the chains of references are.
 */
export function neededResources({
  rest,
  fixed,
  staying,
  dynamic,
  registry,
}: NeedingParts): ReadonlyMap<string, string> {
  const needed = new Map<string, string>();
  const add = (type: ResourceType, needs: Iterable<Need>): void => {
    for (const { name, field } of needs) {
      const key = resourceKey({ type, name });
      if (!needed.has(key)) needed.set(key, field);
    }
  };
  const addAllIn = (searched: Searched): void => {
    add(cluster, clustersIn(searched, registry));
    add(secret, staticSecretsIn(searched, registry));
  };
  addAllIn({ json: rest, desc: descOf(bootstrapName, registry), within: "" });
  for (const one of staying) addAllIn(searchedResource(one, registry));
  for (const one of [...fixed, ...dynamic])
    add(cluster, staticOnlyClusters(searchedResource(one, registry), registry));
  const known = new Set(staying);
  const byKey = Map.groupBy(fixed, resourceKey);
  // Also visits the keys that are added meanwhile.
  for (const key of needed.keys())
    for (const one of byKey.get(key) ?? [])
      if (!known.has(one)) addAllIn(searchedResource(one, registry));
  return needed;
}
