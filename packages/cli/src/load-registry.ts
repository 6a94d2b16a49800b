import { readFile } from "node:fs/promises";
// Imports the whole module: Node before 22.15 does not have zstd, and importing a missing name would be an error.
import zlib from "node:zlib";
import { registryWith } from "@xdstp/protos/envoy";
import { CORE_SCHEMA, load } from "js-yaml";
import { CliError, unreadable } from "./cli-error.ts";

/** The file name endings of the forms that `buf build -o FILE` writes. */
const descriptorEndings = ".binpb, .bin, .json, .txtpb or .yaml, also with .gz or .zst";

const wayOut = `give what \`buf build -o FILE\` writes, where FILE ends with ${descriptorEndings}`;

/** Returns the message types of the Envoy API and of the descriptor sets in these files. Throws a CliError that names the file. */
export async function loadRegistry(
  files: readonly string[],
): Promise<ReturnType<typeof registryWith>> {
  const sets = await Promise.all(files.map(readSet));
  try {
    return registryWith(...sets);
  } catch (error) {
    throw new CliError(1, withFileName(textOf(error), files), { cause: error });
  }
}

async function readSet(file: string): Promise<Uint8Array> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw unreadable(error, `--descriptors ${file}`, wayOut);
  });
  try {
    return descriptorSetOf(file, bytes);
  } catch (error) {
    const reason = textOf(error).split("\n", 1)[0] ?? "";
    throw new CliError(1, `--descriptors ${file}: not a descriptor set: ${reason}; ${wayOut}`, {
      cause: error,
    });
  }
}

/** Replaces the number of a descriptor set in an error text by its file name, and adds the file name endings. */
function withFileName(message: string, files: readonly string[]): string {
  return message
    .replace(
      /^descriptor set (\d+)(?=: )/,
      (counted: string, number: string) => `--descriptors ${files[Number(number) - 1] ?? counted}`,
    )
    .replace(/; give what `buf build.*$/s, `; ${wayOut}`);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const maxUnpackedBytes = 256 * 1024 * 1024;

/** Returns the content of a file of descriptors as `registryWith` reads it. YAML is converted to JSON; other content is returned unchanged. Throws the errors of the parser and of the decompression. */
function descriptorSetOf(file: string, bytes: Uint8Array): Uint8Array {
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
