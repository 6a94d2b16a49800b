import { readFile } from "node:fs/promises";
import { CliError } from "./cli-error.ts";

/** Reads a file of certificates or a key. Throws a CliError that names the option and the file. */
export async function readPem(option: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(
      1,
      `${option} ${file}: ${code === "ENOENT" ? "there is no such file" : `it cannot be read (${code ?? message})`}; give a PEM file`,
      { cause: error },
    );
  }
}
