/**
 * The discovery services of single types, and all services as a table of plain data.
 * @packageDocumentation
 */
export type { ServiceRow } from "./services.ts";
export { SERVICES } from "./services.ts";

export { ClusterDiscoveryService } from "../gen/envoy/service/cluster/v3/cds_pb.ts";
export { EndpointDiscoveryService } from "../gen/envoy/service/endpoint/v3/eds_pb.ts";
export { LocalityEndpointDiscoveryService } from "../gen/envoy/service/endpoint/v3/leds_pb.ts";
export { ExtensionConfigDiscoveryService } from "../gen/envoy/service/extension/v3/config_discovery_pb.ts";
export { ListenerDiscoveryService } from "../gen/envoy/service/listener/v3/lds_pb.ts";
export {
  RouteDiscoveryService,
  VirtualHostDiscoveryService,
} from "../gen/envoy/service/route/v3/rds_pb.ts";
export { ScopedRoutesDiscoveryService } from "../gen/envoy/service/route/v3/srds_pb.ts";
export { RuntimeDiscoveryService } from "../gen/envoy/service/runtime/v3/rtds_pb.ts";
export { SecretDiscoveryService } from "../gen/envoy/service/secret/v3/sds_pb.ts";
