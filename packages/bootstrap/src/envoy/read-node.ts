import { NodeSchema, type Node } from "@xdstp/protos/discovery";

import type { BootstrapLocality, BootstrapNode, JsonObject } from "../grpc/bootstrap.ts";
import type { Placed } from "../grpc/place.ts";
import { readMessage } from "./read-message.ts";

/** `node` of a bootstrap; an empty one where it is absent. What Envoy says of itself in it (user agent, features) is not taken over: the client says its own. */
export function readNode(json: Placed<JsonObject> | undefined): BootstrapNode {
  if (json === undefined) return { id: "", cluster: "" };
  const { id, cluster, locality, metadata, dynamicParameters } = readMessage(NodeSchema, json);
  return {
    id,
    cluster,
    ...(locality !== undefined && { locality: localityOf(locality) }),
    ...(metadata !== undefined && { metadata }),
    ...(Object.keys(dynamicParameters).length > 0 && {
      dynamicParameters: new Map(
        Object.entries(dynamicParameters).map(([typeUrl, { params }]) => [
          typeUrl,
          new Map(Object.entries(params)),
        ]),
      ),
    }),
  };
}

function localityOf({ region, zone, subZone }: NonNullable<Node["locality"]>): BootstrapLocality {
  return { region, zone, subZone };
}
