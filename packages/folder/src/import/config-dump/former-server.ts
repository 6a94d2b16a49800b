import type { JsonObject, Registry } from "@bufbuild/protobuf";
import { cluster } from "@xdstp/resource-types";
import { bootstrapName } from "../../check-bootstrap.ts";
import { isObject } from "../../documents-of.ts";
import { descOf, type JsonResource, searchedResource, staticOf } from "../json-resource.ts";
import { keyOf, listOf, objectOf, without } from "../messages-in-json.ts";
import { clustersIn } from "../static-needs.ts";

/** Removes `dynamic_resources` from a bootstrap, and the static clusters that only lead to the server that these name. Returns a note about the clusters. */
export function dropFormerServer(
  bootstrap: JsonObject,
  dynamic: readonly JsonResource[],
  registry: Registry,
): string[] {
  const key = keyOf(bootstrap, "dynamic_resources");
  const former = bootstrap[key];
  if (!isObject(former)) return [];
  const desc = descOf(bootstrapName, registry);
  const names = new Set(
    Array.from(clustersIn({ json: { [key]: former }, desc, within: "" }, registry), nameOf),
  );
  Reflect.deleteProperty(bootstrap, key);
  const fixed = staticOf(bootstrap);
  const leading = new Set(fixed.filter(({ type, name }) => type === cluster && names.has(name)));
  const rest = without(bootstrap, "static_resources");
  const others = [...dynamic, ...fixed].filter((one) => !leading.has(one));
  const needed = new Set(
    [
      { json: rest, desc, within: "" },
      ...others.map((one) => searchedResource(one, registry)),
    ].flatMap((one) => Array.from(clustersIn(one, registry), nameOf)),
  );
  const dropped = [...leading].filter(({ name }) => !needed.has(name));
  if (dropped.length === 0) return [];
  const lists = objectOf(bootstrap, "static_resources");
  const isDropped = new Set<JsonObject>(dropped.map(({ json }) => json));
  if (lists !== undefined)
    lists.clusters = listOf(lists, "clusters").filter((json) => !isDropped.has(json));
  const shown = dropped.map(({ name }) => JSON.stringify(name)).join(", ");
  return [`Left out is the static cluster ${shown}, which only led to the server before.`];
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}
