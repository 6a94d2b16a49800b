/**
 * Envoy's resource types as data: what may differ between types, for a cache and a server that know none.
 *
 * @packageDocumentation
 */
export {
  cluster,
  clusterLoadAssignment,
  envoyTypes,
  lbEndpoint,
  listener,
  routeConfiguration,
  runtime,
  scopedRouteConfiguration,
  secret,
  typedExtensionConfig,
  virtualHost,
} from "./envoy-types.ts";
export { foreignReferences } from "./references-of.ts";
export { messageType } from "./message-type.ts";
export { referencesOf } from "./references-of.ts";
export { serviceNameFault } from "./assignment-of.ts";
export { shortNameOf, shortTypes } from "./envoy-types.ts";
export { typeUrlOf } from "./type-urls.ts";
