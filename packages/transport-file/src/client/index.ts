/**
 * The client's end of filesystem subscriptions: a channel that turns a file into SotW streams, and a
 * feed for names of files.
 *
 * @packageDocumentation
 */
export { createFileChannel, type FileChannel, type FileChannelOptions } from "./file-channel.ts";
export { createFileTransport, type FileServer } from "./file-transport.ts";
export type { FileEvent } from "./file-event.ts";
export {
  createNativeFileFeed,
  type NativeFileFeed,
  type NativeFileFeedOptions,
} from "./native-file-feed.ts";
export { createNativeFileSource, type NativeFileSource } from "./native-file-source.ts";

// The file system, for implementations of it.
export type { FileStats, FileSystem, OpenFile } from "@xdstp/folder/files";
