import type { FileRegistry } from "@bufbuild/protobuf";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { gunzipSync } from "node:zlib";
import { envoyImage } from "./gen/envoy-image.ts";

let registry: FileRegistry | undefined;

/**
 * Every message, enum and service of Envoy's v3 API, contrib and xds included. For JSON and YAML with `@type`, and for tools that show resources.
 *
 * Built at the first call, in some tens of milliseconds, and kept.
 */
export function envoyRegistry(): FileRegistry {
  registry ??= createFileRegistry(
    fromBinary(FileDescriptorSetSchema, gunzipSync(Buffer.from(envoyImage, "base64"))),
  );
  return registry;
}
