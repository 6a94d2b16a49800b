import { readdir } from "node:fs/promises";
import { CliError } from "./cli-error.ts";

/** Throws a CliError if there is no such folder, or it cannot be read. Later losses are the feed's matter. */
export async function checkFolder(dir: string): Promise<void> {
  try {
    await readdir(dir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError(1, `${dir}: ${reasons[code ?? ""] ?? `the folder cannot be read (${code ?? String(error)})`}`, { cause: error });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such folder; make it (it may be empty), or name another",
  ENOTDIR: "this is no folder; name the folder that holds AUTHORITY/TYPE/ID.yaml",
  EACCES: "this user may not read the folder; give it the right to, or name another",
};
