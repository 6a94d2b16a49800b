/**
 * Envoy's resources as messages of generated code, for `put` of a cache.
 *
 * ```ts
 * cache.put(clusters, { name: "web", connectTimeout: { seconds: 1n } });
 * ```
 *
 * @packageDocumentation
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MessageType } from "@xdstp/core";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { ClusterLoadAssignmentSchema } from "@xdstp/protos/envoy/endpoint";
import { ListenerSchema } from "@xdstp/protos/envoy/listener";
import { RouteConfigurationSchema } from "@xdstp/protos/envoy/route";
import { SecretSchema } from "@xdstp/protos/envoy/secret";
import { messageType } from "./message-type.ts";

/** Clusters (CDS), by `name`. */
export const clusters: MessageType<MessageInitShape<typeof ClusterSchema>> =
  messageType(ClusterSchema);

/** The endpoints of clusters (EDS), by `clusterName`. */
export const endpoints: MessageType<MessageInitShape<typeof ClusterLoadAssignmentSchema>> =
  messageType(ClusterLoadAssignmentSchema);

/** Listeners (LDS), by `name`. */
export const listeners: MessageType<MessageInitShape<typeof ListenerSchema>> =
  messageType(ListenerSchema);

/** Route configurations (RDS), by `name`. */
export const routes: MessageType<MessageInitShape<typeof RouteConfigurationSchema>> =
  messageType(RouteConfigurationSchema);

/** Secrets (SDS), by `name`. */
export const secrets: MessageType<MessageInitShape<typeof SecretSchema>> =
  messageType(SecretSchema);
