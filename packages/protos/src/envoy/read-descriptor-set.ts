import { createRegistry, fromBinary, fromJsonString, type Registry } from "@bufbuild/protobuf";
import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import { fromText } from "@bufbuild/protobuf/txtpb";
import type { DescriptorProto, FileDescriptorSet } from "@bufbuild/protobuf/wkt";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
// By its whole: Node before 22.15 has no zstd, and a missing name would keep this module from loading.
import zlib from "node:zlib";
import { blankFields } from "./blank-fields.ts";
import { envoyRegistry } from "./envoy-registry.ts";

const wayOut =
  "give what `buf build -o FILE.binpb` writes (.bin, .json and .txtpb will do too, and .gz or .zst of these)";
/** Marks what `withoutSecrets` hides. */
const SENSITIVE = "udpa.annotations.sensitive";
const maxUnpackedBytes = 256 * 1024 * 1024;

/** The descriptors in what `buf build` or `protoc --descriptor_set_out` wrote. Throws an Error that says what the bytes are not. @internal */
export function readDescriptorSet(bytes: Uint8Array): FileDescriptorSet {
  const set = parse(unpack(bytes));
  if (set.file.length === 0) throw new Error(`it holds no files; ${wayOut}`);
  for (const file of set.file) for (const message of file.messageType) nameForJson(message);
  return set;
}

function unpack(bytes: Uint8Array): Uint8Array {
  const limit = { maxOutputLength: maxUnpackedBytes };
  try {
    if (beginsWith(bytes, [0x1f, 0x8b])) return zlib.gunzipSync(bytes, limit);
    if (beginsWith(bytes, [0x28, 0xb5, 0x2f, 0xfd])) return zlib.zstdDecompressSync(bytes, limit);
    return bytes;
  } catch (cause) {
    throw new Error(`not a whole compressed file of at most 256 MiB: ${textOf(cause)}; ${wayOut}`, {
      cause,
    });
  }
}

function beginsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, index) => bytes[index] === byte);
}

function parse(bytes: Uint8Array): FileDescriptorSet {
  try {
    if (bytes[0] === 0x7b)
      return fromJsonString(FileDescriptorSetSchema, textIn(bytes), {
        registry: readOptions(),
        ignoreUnknownFields: true,
      });
    if (isTextFormat(bytes))
      return fromText(FileDescriptorSetSchema, blankFields(textIn(bytes), isUnread), {
        registry: readOptions(),
      });
    return fromBinary(FileDescriptorSetSchema, bytes);
  } catch (cause) {
    throw new Error(`not a descriptor set: ${textOf(cause)}; ${wayOut}`, { cause });
  }
}

/** No binary set looks so. */
function isTextFormat(bytes: Uint8Array): boolean {
  return /^(?:\s|#.*)*file\s*:?\s*[{<[]/u.test(textIn(bytes.subarray(0, 65_536)));
}

function textIn(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Files that buf adds for itself, and unused options, whose definitions may differ from ours. */
function isUnread(name: string): boolean {
  return name === "buf_extension" || (name.startsWith("[") && name !== `[${SENSITIVE}]`);
}

/** The options that are read, in a form that names them. */
function readOptions(): Registry {
  const sensitive = envoyRegistry().getExtension(SENSITIVE);
  return createRegistry(...(sensitive === undefined ? [] : [sensitive]));
}

/** Compilers write the JSON name of a field; other makers of sets may leave it out. */
function nameForJson(message: DescriptorProto): void {
  for (const field of message.field) field.jsonName ||= protoCamelCase(field.name);
  for (const nested of message.nestedType) nameForJson(nested);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
