import { readFile } from "node:fs/promises";
import { XdsError } from "@xdstp/core";
import { CliError, unreadable } from "./cli-error.ts";
import { followFiles, type FollowOptions } from "./follow-files.ts";

/** The certificate files of a server, as absolute paths. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** The authorities that verify client certificates. Absent: clients do not have to show one. */
  readonly clientCa?: string;
}

/** The content of {@link TlsFiles}, PEM. */
export interface TlsContents {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly clientCa?: Buffer;
}

/** The error for one of {@link TlsFiles} that cannot be read or used. */
export class TlsFileError extends CliError {
  readonly part: keyof TlsFiles;

  constructor(part: keyof TlsFiles, message: string, options?: ErrorOptions) {
    super(1, message, options);
    this.part = part;
  }
}

const tlsOptions: Readonly<Record<keyof TlsFiles, string>> = {
  cert: "--tls-cert",
  key: "--tls-key",
  clientCa: "--tls-client-ca",
};

/** Reads the files. Throws a TlsFileError for the first one that cannot be read. */
export async function readTlsFiles({ cert, key, clientCa }: TlsFiles): Promise<TlsContents> {
  return {
    cert: await readPart("cert", cert),
    key: await readPart("key", key),
    ...(clientCa !== undefined && { clientCa: await readPart("clientCa", clientCa) }),
  };
}

async function readPart(part: keyof TlsFiles, file: string): Promise<Buffer> {
  try {
    return await readPem(tlsOptions[part], file);
  } catch (error) {
    throw new TlsFileError(part, (error as CliError).message, { cause: error });
  }
}

/** Converts an error of a server about its TLS to one that names the option of the command. Returns other errors unchanged. */
export function asTlsFileError(error: unknown): unknown {
  if (!(error instanceof XdsError)) return error;
  const found = /\btls\.(cert|key|clientCa)\b/g;
  const [, part] = found.exec(error.text) ?? [];
  const message = error.text.replaceAll(found, (_, one: keyof TlsFiles) => tlsOptions[one]);
  return part === undefined
    ? new CliError(1, message, { cause: error })
    : new TlsFileError(part as keyof TlsFiles, message, { cause: error });
}

/** Reads a file of certificates or a key. Throws a CliError that names the option and the file. */
export async function readPem(option: string, file: string): Promise<Buffer> {
  return readFile(file).catch((error: unknown) => {
    throw unreadable(error, `${option} ${file}`, "give a PEM file");
  });
}

/** The options of {@link followTlsFiles}. */
interface FollowTlsOptions extends Pick<
  FollowOptions<TlsContents>,
  "first" | "clock" | "apply" | "onChange"
> {
  readonly files: TlsFiles;
}

/** Applies certificates when their files change. */
export function followTlsFiles({ files, ...options }: FollowTlsOptions): { close(): void } {
  const { cert, key, clientCa } = files;
  return followFiles({
    ...options,
    files: [cert, key, ...(clientCa === undefined ? [] : [clientCa])],
    read: async () => readTlsFiles(files),
    fingerprint,
  });
}

function fingerprint({ cert, key, clientCa }: TlsContents): string {
  return [cert, key, clientCa ?? Buffer.alloc(0)]
    .map((bytes) => bytes.toString("base64"))
    .join(" ");
}
