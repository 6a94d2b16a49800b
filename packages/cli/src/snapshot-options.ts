import { readFile } from "node:fs/promises";
import type { SnapshotOptions } from "@xdstp/relay";
import { CliError } from "./cli-error.ts";

const keyBytes = 32;

/** Where a relay keeps its state, with the key of a file. Throws a CliError that never shows what is in the file. */
export async function snapshotOptions({
  dir,
  keyFile,
}: {
  readonly dir: string;
  readonly keyFile?: string;
}): Promise<SnapshotOptions> {
  return { dir, ...(keyFile !== undefined && { secretKey: await readKey(keyFile) }) };
}

/** 32 bytes as they are, in hexadecimal digits or in base64. */
async function readKey(file: string): Promise<Uint8Array> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new CliError(
      1,
      `--snapshot-key ${file}: ${(error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : (error as Error).message}; openssl rand -hex 32 makes one`,
      { cause: error },
    );
  });
  if (bytes.length === keyBytes) return bytes;
  const text = bytes.toString("latin1").trim();
  const key = /^[0-9a-fA-F]{64}$/.test(text)
    ? Buffer.from(text, "hex")
    : Buffer.from(text, "base64");
  if (key.length === keyBytes && /^[0-9a-zA-Z+/]+=?$/.test(text)) return key;
  throw new CliError(
    1,
    `--snapshot-key ${file}: a key is 32 bytes, as they are, as 64 hexadecimal digits or in base64; openssl rand -hex 32 makes one`,
  );
}
