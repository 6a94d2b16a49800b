import type { BootstrapLocality, BootstrapNode, JsonObject } from "./bootstrap.ts";
import { objectIn, stringIn, type Placed } from "./place.ts";

/** `node` of a bootstrap; an empty one where it is absent. */
export function parseNode(bootstrap: Placed<JsonObject>): BootstrapNode {
  const node = objectIn(bootstrap, "node");
  if (node === undefined) return { id: "", cluster: "" };
  const locality = objectIn(node, "locality");
  const metadata = objectIn(node, "metadata");
  return {
    id: stringIn(node, "id") ?? "",
    cluster: stringIn(node, "cluster") ?? "",
    ...(locality !== undefined && { locality: localityOf(locality) }),
    ...(metadata !== undefined && { metadata: metadata.value }),
  };
}

function localityOf(locality: Placed<JsonObject>): BootstrapLocality {
  return {
    region: stringIn(locality, "region") ?? "",
    zone: stringIn(locality, "zone") ?? "",
    subZone: stringIn(locality, "sub_zone") ?? "",
  };
}
