import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { ClusterLoadAssignmentSchema } from "@xdstp/protos/envoy/endpoint";
import { RouteConfigurationSchema } from "@xdstp/protos/envoy/route";

/** The types that a gRPC client follows from a listener. */
export const parts = {
  routes: RouteConfigurationSchema,
  clusters: ClusterSchema,
  endpoints: ClusterLoadAssignmentSchema,
};
