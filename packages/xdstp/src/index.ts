/**
 * xDS in one import: a control plane, a client, and messages as resources.
 *
 * ```ts
 * const controlPlane = createControlPlane();
 * controlPlane.put(clusters, { name: "web", connectTimeout: { seconds: 1n } });
 * await controlPlane.listen({ port: 18000 });
 * ```
 *
 * @packageDocumentation
 */
export {
  createControlPlane,
  type ControlPlane,
  type ControlPlaneOptions,
} from "./create-control-plane.ts";
export { createXdsClient, type XdsClientOptions } from "./create-xds-client.ts";
export type { Client } from "@xdstp/client";
export { messageType } from "@xdstp/resource-types";
