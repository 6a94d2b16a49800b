/**
 * The network filter that sends connections to clusters, as TypeScript.
 *
 * ```ts
 * import { create, toBinary } from "@bufbuild/protobuf";
 * import { TcpProxySchema } from "@xdstp/protos/envoy/tcp-proxy";
 *
 * const bytes = toBinary(TcpProxySchema, create(TcpProxySchema));
 * ```
 * @packageDocumentation
 */
export * from "./gen/envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy_pb.ts";
