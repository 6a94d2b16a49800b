/**
 * Reads Envoy's configuration of sources: ConfigSource messages, and the bootstrap.
 *
 * ```ts
 * import { readEnvoyBootstrap } from "@xdstp/bootstrap/envoy";
 *
 * const { node, sources } = readEnvoyBootstrap(text);
 * ```
 * @packageDocumentation
 */
export {
  configSourceReader,
  readConfigSource,
  type ReadConfigSourceOptions,
} from "./read-config-source.ts";
export type { EnvoyBootstrap, EnvoyConfigSource } from "./config-source.ts";
export { readEnvoyBootstrap } from "./read-envoy-bootstrap.ts";
