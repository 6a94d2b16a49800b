import type { FileSystem } from "@xdstp/transport-file/client";
import type { WritableFiles } from "@xdstp/transport-file/server";

import type { WatchFiles } from "./file-reader.ts";

/** Something that is wrong with a world of files. Absent parts change nothing. */
export interface FilesDefect {
  /** Around the file system, as readers use it. */
  readonly files?: (files: FileSystem) => FileSystem;
  /** In place of the watches of readers. */
  readonly watch?: WatchFiles;
  /** Around the file system, as the export uses it. */
  readonly writer?: (files: WritableFiles) => WritableFiles;
}

/** Changes the bytes that a reader gets of a file, in one piece. */
function reading(
  change: (path: string, bytes: Uint8Array) => Uint8Array,
): (files: FileSystem) => FileSystem {
  return (files) => ({
    ...files,
    async open(path) {
      const file = await files.open(path);
      const parts: number[] = [];
      const buffer = new Uint8Array(10_000);
      for (let count = await file.read(buffer); count > 0; count = await file.read(buffer))
        parts.push(...buffer.subarray(0, count));
      let left = change(path, Uint8Array.from(parts));
      return {
        read: async (into) => {
          const count = Math.min(left.length, into.length);
          into.set(left.subarray(0, count));
          left = left.subarray(count);
          return Promise.resolve(count);
        },
        close: async () => file.close(),
      };
    },
  });
}

/** Every third reading gives the content of the first one. */
export function readOldFiles(): FilesDefect {
  const first = new Map<string, Uint8Array>();
  let count = 0;
  return {
    files: reading((path, bytes) => {
      const old = first.get(path) ?? bytes;
      first.set(path, old);
      return ++count % 3 === 0 ? old : bytes;
    }),
  };
}

/** A reading mixes two states: its numbers are those of no file. */
export function readMixedFiles(): FilesDefect {
  return {
    files: reading((_, bytes) =>
      new TextEncoder().encode(new TextDecoder().decode(bytes).replaceAll('s"', '77s"')),
    ),
  };
}

/** Changes are neither notified nor seen in the state of a file. */
export function missChanges(): FilesDefect {
  return {
    files: (files) => {
      const states = new Map<string, ReturnType<FileSystem["stat"]>>();
      return {
        ...files,
        async stat(path) {
          const known = states.get(path) ?? files.stat(path);
          states.set(path, known);
          return known;
        },
      };
    },
    watch: () => ({ on: () => undefined, close: () => undefined }),
  };
}

/** The export writes a file in its place. */
export function writeInPlace(): FilesDefect {
  return {
    writer: (files) => ({
      ...files,
      async write(path, content, mode) {
        await files.write(path.replace(/\/\.(.*)\.\d+\.tmp$/, "/$1"), content, mode);
        await files.write(path, content, mode);
      },
    }),
  };
}

/** A reader closes no file. */
export function leaveOpen(): FilesDefect {
  return {
    files: (files) => ({
      ...files,
      async open(path) {
        const file = await files.open(path);
        return { read: async (buffer) => file.read(buffer), close: async () => Promise.resolve() };
      },
    }),
  };
}
