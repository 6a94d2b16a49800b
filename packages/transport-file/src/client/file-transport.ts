import { fileURLToPath } from "node:url";
import type { Clock } from "@xdstp/core";

import { createFileChannel, type FileChannel, type FileChannelOptions } from "./file-channel.ts";

/** A server that is a file: a `ServerConfig` of `@xdstp/bootstrap` whose URI is `file:///PATH`. */
export interface FileServer {
  /** The URI of the file. */
  readonly uri: string;
  /** The file, with its options. Absent: the file of the URI. */
  readonly file?: Pick<FileChannelOptions, "path" | "watchedDirectory">;
}

/**
 * Creates the transport `file` for `createChannels` of `@xdstp/bootstrap`, so that clients,
 * federations and relays follow the files of `path_config_source` (section 25 of the rules).
 * Without it, no configuration leads to a file.
 */
export function createFileTransport(
  options: Omit<FileChannelOptions, "path" | "watchedDirectory" | "clock">,
): (server: FileServer, host: { readonly clock: Clock }) => FileChannel {
  return ({ uri, file = { path: fileURLToPath(uri) } }, { clock }) =>
    createFileChannel({ ...options, ...file, clock });
}
