import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject } from "../../documents-of.ts";
import { keyOf, listOf, valueOf } from "../messages-in-json.ts";

/**
 * Removes from a dumped ClusterLoadAssignment the fields that Envoy adds: weights of 0, which it would reject, empty messages, and the results of its own health checks.
 * @param ofCluster - The cluster, if the dump has it. With health checks or outlier detection, the health status `UNHEALTHY` or `DEGRADED` may be their result, and is removed
 */
export function asConfigured(
  assignment: JsonObject,
  ofCluster: JsonObject | undefined,
): JsonObject {
  const isChecked =
    ofCluster !== undefined &&
    ["health_checks", "outlier_detection"].some((field) => valueOf(ofCluster, field) !== undefined);
  const found: readonly JsonValue[] = isChecked
    ? ["HEALTHY", "UNHEALTHY", "DEGRADED"]
    : ["HEALTHY"];
  for (const locality of listOf(assignment, "endpoints")) {
    if (valueOf(locality, "load_balancing_weight") === 0)
      Reflect.deleteProperty(locality, keyOf(locality, "load_balancing_weight"));
    dropEmpty(locality, "locality");
    for (const endpoint of listOf(locality, "lb_endpoints")) {
      dropEmpty(endpoint, "metadata");
      const inner = valueOf(endpoint, "endpoint");
      if (isObject(inner)) dropEmpty(inner, "health_check_config");
      if (found.includes(valueOf(endpoint, "health_status") ?? ""))
        Reflect.deleteProperty(endpoint, keyOf(endpoint, "health_status"));
    }
  }
  return assignment;
}

function dropEmpty(json: JsonObject, field: string): void {
  const value = valueOf(json, field);
  if (isObject(value) && Object.keys(value).length === 0)
    Reflect.deleteProperty(json, keyOf(json, field));
}
