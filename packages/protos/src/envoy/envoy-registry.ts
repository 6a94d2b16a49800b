import type { FileRegistry } from "@bufbuild/protobuf";
import { gunzipSync } from "node:zlib";
import { envoyImage } from "./gen/envoy-image.ts";
import { lazyRegistry } from "./lazy-registry.ts";

let registry: FileRegistry | undefined;

/**
 * Every message, enum and service of Envoy's v3 API, contrib and xds included. For JSON and YAML with `@type`, and for tools that show resources.
 *
 * Unpacked at the first call and kept. A file of the API is decoded when one of its types is requested, so a loop over all types takes some tens of milliseconds.
 */
export function envoyRegistry(): FileRegistry {
  registry ??= lazyRegistry(gunzipSync(Buffer.from(envoyImage, "base64")));
  return registry;
}
