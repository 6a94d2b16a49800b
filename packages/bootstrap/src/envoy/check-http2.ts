import { fromBinary } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import type { Cluster } from "@xdstp/protos/envoy/cluster";

import { wrongAt, type Place } from "../grpc/place.ts";

const name = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/** As much of `HttpProtocolOptions` as is looked at. */
interface HttpProtocolOptions {
  readonly upstreamProtocolOptions: {
    readonly case?: string;
    readonly value?: { readonly protocolConfig?: { readonly case?: string } };
  };
}

/** Throws for a cluster that Envoy would speak to in HTTP/1: gRPC needs HTTP/2, so it is not meant as a management server, or would not work as one. */
export function checkHttp2(cluster: Cluster, place: Place): void {
  const any = cluster.typedExtensionProtocolOptions[name];
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- Envoy's API deprecates the field, but existing bootstraps still set it
  if (cluster.http2ProtocolOptions !== undefined || (any !== undefined && isHttp2(any.value)))
    return;
  throw wrongAt(
    place,
    "does not speak HTTP/2, which gRPC needs; add typed_extension_protocol_options with explicit_http_config: {http2_protocol_options: {}}",
  );
}

function isHttp2(bytes: Uint8Array): boolean {
  const schema = envoyRegistry().getMessage(name);
  if (schema === undefined) return false;
  const {
    upstreamProtocolOptions: { case: kind, value },
  } = fromBinary(schema, bytes) as unknown as HttpProtocolOptions;
  return (
    kind === "autoConfig" ||
    (kind === "explicitHttpConfig" && value?.protocolConfig?.case === "http2ProtocolOptions")
  );
}
