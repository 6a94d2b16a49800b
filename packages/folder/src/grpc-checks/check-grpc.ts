import type { Registry } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { type CheckTable, type Rejection, runChecks } from "../envoy-checks/run-checks.ts";
import { grpcClusterChecks } from "./cluster-checks.ts";
import { grpcEndpointChecks } from "./endpoint-checks.ts";
import { grpcListenerChecks } from "./listener-checks.ts";
import { grpcRouteChecks } from "./route-checks.ts";

const checks: CheckTable = Map.groupBy(
  [...grpcListenerChecks, ...grpcRouteChecks, ...grpcClusterChecks, ...grpcEndpointChecks],
  ({ type }) => type,
);

/**
 * Returns what gRPC clients reject in a resource, though Envoy may accept it: gRFC A27 and those that followed it.
 * Each check is a row of the tables of this folder, and shown to a real client by a suite of `real-clients`. What clients pass over is not in them.
 */
export function checkGrpc(message: ReflectMessage, registry: Registry): readonly Rejection[] {
  return runChecks(checks, message, { registry, files: undefined });
}
