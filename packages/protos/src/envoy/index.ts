/**
 * The whole Envoy API as one registry, and resources as JSON with `@type`. Needs Node.
 *
 * ```ts
 * import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
 *
 * const json = { "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "backend" };
 * const resource = anyFromJson(json, envoyRegistry());
 * ```
 * @packageDocumentation
 */
export { anyFromJson, anyToJson } from "./any-json.ts";
export { envoyRegistry } from "./envoy-registry.ts";
export { registryWith } from "./registry-with.ts";
export { typeUrlsOf, unknownTypes } from "./registry-types.ts";
export { type JsonStep, ResourceJsonError } from "./resource-json-error.ts";
export { type PackedMessage, withoutSecrets } from "./without-secrets.ts";
