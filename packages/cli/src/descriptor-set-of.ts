import { CORE_SCHEMA, load } from "js-yaml";
// By its whole: Node before 22.15 has no zstd, and a missing name would keep this module from loading.
import zlib from "node:zlib";

/** The endings of what `buf build -o FILE` writes. */
export const descriptorEndings = ".binpb, .bin, .json, .txtpb or .yaml, also with .gz or .zst";

const maxUnpackedBytes = 256 * 1024 * 1024;

/** What is in a file of descriptors, as `registryWith` reads it: YAML as JSON, all else as it is. Throws what the parser or the decompression throws. */
export function descriptorSetOf(file: string, bytes: Uint8Array): Uint8Array {
  const packing = /\.ya?ml(?<packing>\.gz|\.zst)?$/iu.exec(file);
  if (packing === null) return bytes;
  const text = new TextDecoder().decode(unpack(bytes, packing.groups?.packing?.toLowerCase()));
  return new TextEncoder().encode(JSON.stringify(load(text, { schema: CORE_SCHEMA }) ?? {}));
}

function unpack(bytes: Uint8Array, packing: string | undefined): Uint8Array {
  const limit = { maxOutputLength: maxUnpackedBytes };
  if (packing === ".gz") return zlib.gunzipSync(bytes, limit);
  return packing === ".zst" ? zlib.zstdDecompressSync(bytes, limit) : bytes;
}
