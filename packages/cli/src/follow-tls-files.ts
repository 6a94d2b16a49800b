import { followFiles, type FollowOptions } from "./follow-files.ts";
import { readTlsFiles, type TlsContents, type TlsFiles } from "./tls-files.ts";

/** What {@link followTlsFiles} needs. */
export interface FollowTlsOptions extends Pick<
  FollowOptions<TlsContents>,
  "first" | "clock" | "apply" | "onChange"
> {
  readonly files: TlsFiles;
}

/** Puts certificates to use as their files change. */
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
