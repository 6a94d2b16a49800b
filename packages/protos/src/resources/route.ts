/**
 * Envoy's route configurations and scoped ones as TypeScript, with what they hold.
 *
 * ```ts
 * import { create, toBinary } from "@bufbuild/protobuf";
 * import { RouteConfigurationSchema } from "@xdstp/protos/envoy/route";
 *
 * const bytes = toBinary(RouteConfigurationSchema, create(RouteConfigurationSchema));
 * ```
 * @packageDocumentation
 */
export * from "./gen/envoy/config/route/v3/route_pb.ts";
export * from "./gen/envoy/config/route/v3/route_components_pb.ts";
export * from "./gen/envoy/config/route/v3/scoped_route_pb.ts";
