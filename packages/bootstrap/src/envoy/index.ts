/**
 * Envoy's way to say where configuration comes from: ConfigSource messages, and the bootstrap.
 *
 * ```ts
 * import { readEnvoyBootstrap } from "@xdstp/bootstrap/envoy";
 *
 * const { node, sources } = readEnvoyBootstrap(text);
 * ```
 * @packageDocumentation
 */
export { configSourceReader } from "./read-config-source.ts";
export { readConfigSource, type ReadConfigSourceOptions } from "./read-config-source.ts";
export type { ConfigSourceFacts, EnvoyConfigSource, StaticClusters } from "./config-source.ts";
export { readEnvoyBootstrap } from "./read-envoy-bootstrap.ts";
export type { EnvoyBootstrap } from "./config-source.ts";
