import type { Message } from "@bufbuild/protobuf";
import { fromBinary } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";

/** The JSON of a message. */
export type Body = Parameters<typeof anyFromJson>[0];

/** Returns a valid cluster with five endpoints and an extension. */
export function clusterBody(name: string): Record<string, Body> {
  const endpoint = (host: number): Body => ({
    endpoint: { address: { socket_address: { address: `10.0.0.${host}`, port_value: 8080 } } },
    load_balancing_weight: 1,
  });
  return {
    name,
    type: "STATIC",
    connect_timeout: "1s",
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [1, 2, 3, 4, 5].map(endpoint) }],
    },
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
  };
}

/** Returns a message in an Any, from JSON without `@type`. */
export function packed(typeName: string, body: Body): Any {
  const json = { "@type": `type.googleapis.com/${typeName}`, ...(body as object) };
  return anyFromJson(json, envoyRegistry());
}

/** Returns the message itself. */
export function message(typeName: string, body: Body): Message {
  const desc = envoyRegistry().getMessage(typeName);
  if (desc === undefined) throw new Error(`${typeName} is not a type of the Envoy API`);
  return fromBinary(desc, packed(typeName, body).value);
}
