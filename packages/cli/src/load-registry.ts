import { readFile } from "node:fs/promises";
import { registryWith } from "@xdstp/protos/envoy";
import { CliError } from "./cli-error.ts";
import { descriptorEndings, descriptorSetOf } from "./descriptor-set-of.ts";

const wayOut = `give what \`buf build -o FILE\` writes, where FILE ends with ${descriptorEndings}`;

/** The messages that files may hold: Envoy's API and the sets in these files. Throws a CliError that names the file. */
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
  const bytes = await readBytes(file);
  try {
    return descriptorSetOf(file, bytes);
  } catch (error) {
    const reason = textOf(error).split("\n", 1)[0] ?? "";
    throw new CliError(1, `--descriptors ${file}: not a descriptor set: ${reason}; ${wayOut}`, {
      cause: error,
    });
  }
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(
      1,
      `--descriptors ${file}: ${code === "ENOENT" ? "there is no such file" : `it cannot be read (${code ?? message})`}; ${wayOut}`,
      { cause: error },
    );
  }
}

/** The registry counts sets and reads bytes; people know files and their endings. */
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
