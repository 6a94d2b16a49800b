import type { Registry } from "@bufbuild/protobuf";
import {
  type ByteStream,
  type ByteStreamHandler,
  type Clock,
  StatusCode,
  systemClock,
  XdsError,
} from "@xdstp/core";
import { type FileSystem, formatProblem, type WatchDirectory } from "@xdstp/folder/files";
import { SERVICES, type ServiceRow } from "@xdstp/protos/services";

import type { FileEvent } from "./file-event.ts";
import { type FileStream, openFileStream } from "./file-stream.ts";
import { type FileState, followFile } from "./follow-file.ts";

/** Options of {@link createFileChannel}. Only `path` and `registry` are required. */
export interface FileChannelOptions {
  /** The path of a file with one `DiscoveryResponse`: `.pb`, `.pb_text`, `.json`, `.yaml` or `.yml`; another extension is read as JSON (C-FILE-1). */
  readonly path: string;
  /** A directory in which each change reads the file again, in addition to the directories of its path. Default: none. */
  readonly watchedDirectory?: string;
  /** The types of the resources, for instance `envoyRegistry()` of `@xdstp/protos/envoy`. Binary files need none. */
  readonly registry: Registry;
  /** Services of your own, in addition to those of Envoy's API. Default: none. */
  readonly services?: readonly ServiceRow[];
  /** Receives each result of reading the file and each answer of a client. It must not throw. */
  readonly onEvent?: (event: FileEvent) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Watches one directory. If it throws an error, the file is compared every 2 seconds. Default: `fs.watch`. */
  readonly watch?: WatchDirectory;
  /** The file system, for tests and for files that are not on a disk. Default: that of the machine. */
  readonly files?: FileSystem;
}

/** A channel to one file, for clients of the SotW variant. */
export interface FileChannel {
  /**
   * Begins a stream of the resources in the file. `path` is the SotW method of a service with one
   * type, `/package.Service/StreamX`; a file has one type.
   * A file that cannot be read ends the stream, with the problem as its reason. A stream that ends
   * so before its first response is the last one of this problem: the next one opens when the file
   * can be read (C-FILE-3). A file that does not exist ends no stream (C-FILE-5).
   * Throws an XdsError: UNIMPLEMENTED for another path, FAILED_PRECONDITION after `close`.
   */
  open(call: { readonly path: string }, handler: ByteStreamHandler): ByteStream;
  /** Ends all streams with CANCELLED. */
  close(): void;
}

/** Creates a channel that turns a file into SotW streams (section 25 of the rules). The file is read and watched while a stream is open. */
export function createFileChannel(options: FileChannelOptions): FileChannel {
  const { path: file, services = [], onEvent = () => undefined, clock = systemClock } = options;
  const typeUrls = new Map<string, string>();
  for (const { service, sotw, typeUrl } of [...SERVICES, ...services])
    if (sotw !== undefined && typeUrl !== undefined) typeUrls.set(`/${service}/${sotw}`, typeUrl);
  const streams = new Set<FileStream>();
  /** The problem with which the last stream of each type ended before its first response. Clients report an outage only then. */
  const reported = new Map<string, string>();
  let state: FileState | undefined;
  let following: AbortController | undefined;
  let isClosed = false;

  /** The last event about the file itself. A file is read again after each loss of a stream. */
  let lastNotice: string | undefined;
  const notify = (next: FileState): void => {
    const event = noticeOf(next, file);
    if (event !== undefined && event.message !== lastNotice) onEvent(event);
    lastNotice = event?.message;
  };
  const onState = (next: FileState): void => {
    state = next;
    if (next.kind === "response") reported.clear();
    notify(next);
    for (const stream of [...streams]) stream.update(next);
  };
  const follow = (): void => {
    const controller = new AbortController();
    following = controller;
    void followFile(
      {
        path: file,
        watchedDirectory: options.watchedDirectory,
        registry: options.registry,
        clock,
        watch: options.watch,
        files: options.files,
        onState: (next) => {
          if (following === controller) onState(next);
        },
      },
      controller.signal,
    );
  };
  const forget = (stream: FileStream): void => {
    streams.delete(stream);
    if (streams.size > 0) return;
    // A client that lost its stream opens another one after a pause.
    following?.abort();
    following = undefined;
    state = undefined;
  };
  return {
    open({ path }, handler) {
      if (isClosed) throw new XdsError("FAILED_PRECONDITION", "the channel is closed");
      const typeUrl = typeUrls.get(path);
      if (typeUrl === undefined)
        throw new XdsError(
          "UNIMPLEMENTED",
          `${path} has no form as a file: use a service with one type, in SotW`,
          { rule: "C-FILE-1" },
        );
      const stream = openFileStream(handler, {
        file,
        typeUrl,
        onEvent,
        isReported: (problem, hadResponse) => {
          const isKnown = reported.get(typeUrl) === problem;
          if (!hadResponse) reported.set(typeUrl, problem);
          return isKnown;
        },
        onEnd: () => {
          forget(stream);
        },
      });
      streams.add(stream);
      if (following === undefined) follow();
      else if (state !== undefined) stream.update(state);
      return stream;
    },
    close() {
      isClosed = true;
      for (const stream of [...streams])
        stream.end({ code: StatusCode.CANCELLED, message: "the channel was closed" });
    },
  };
}

function noticeOf(
  state: FileState,
  path: string,
): Extract<FileEvent, { kind: "invalid" | "missing" }> | undefined {
  switch (state.kind) {
    case "response":
      return undefined;
    case "invalid":
      return {
        kind: "invalid",
        path,
        problem: state.problem,
        message: formatProblem(state.problem),
      };
    case "missing":
      return {
        kind: "missing",
        path,
        message: `${path}: does not exist; its resources are read as soon as it does`,
      };
  }
}
