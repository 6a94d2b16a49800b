import { watch, type FSWatcher } from "node:fs";
import { dirname } from "node:path";
import type { Clock, Timer } from "@xdstp/core";
import { CliError } from "./cli-error.ts";
import { readTlsFiles, type TlsContents, type TlsFiles } from "./tls-files.ts";

/** What {@link followTlsFiles} needs. */
export interface FollowTlsOptions {
  readonly files: TlsFiles;
  /** What is in use. */
  readonly first: TlsContents;
  readonly clock: Clock;
  /** Puts new contents to use; throws if they are broken. */
  readonly apply: (contents: TlsContents) => void;
  /** Told of each change once: undefined if it is in use, else why it is not. */
  readonly onChange: (problem: string | undefined) => void;
}

/** Certificate and key are two files and never change at one moment: a pause without events shows that both are there. */
const quietMs = 100;
/** For file systems that tell nothing. */
const pollMs = 60_000;

/**
 * Puts certificates to use as their files change; broken ones never, so that the ones before stay.
 * It watches the directories: a certificate is renewed by renaming a file or a link, which ends the watch of a file.
 */
export function followTlsFiles({ files, first, clock, apply, onChange }: FollowTlsOptions): { close(): void } {
  let seen = fingerprint(first);
  let timer: Timer | undefined;
  let open = true;
  const readAfter = (ms: number): void => {
    timer?.cancel();
    timer = open ? clock.after(ms, () => { void look(); }) : undefined;
  };
  const look = async (): Promise<void> => {
    const contents = await readTlsFiles(files).catch((error: unknown) => error as CliError);
    const now = contents instanceof CliError ? contents.message : fingerprint(contents);
    if (open && now !== seen) {
      seen = now;
      onChange(contents instanceof CliError ? contents.message : problemWith(contents, apply));
    }
    readAfter(pollMs);
  };
  const watchers = watchAll(files, () => { readAfter(quietMs); });
  readAfter(quietMs);
  return {
    close() {
      open = false;
      timer?.cancel();
      for (const watcher of watchers) watcher.close();
    },
  };
}

function problemWith(contents: TlsContents, apply: (contents: TlsContents) => void): string | undefined {
  try {
    apply(contents);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A directory that cannot be watched is polled. */
function watchAll({ cert, key, clientCa }: TlsFiles, onEvent: () => void): readonly FSWatcher[] {
  const directories = new Set([cert, key, ...(clientCa === undefined ? [] : [clientCa])].map((file) => dirname(file)));
  return [...directories].flatMap((directory) => {
    try {
      const watcher = watch(directory, onEvent);
      watcher.on("error", () => { watcher.close(); });
      return [watcher];
    } catch {
      return [];
    }
  });
}

function fingerprint({ cert, key, clientCa }: TlsContents): string {
  return [cert, key, clientCa ?? Buffer.alloc(0)].map((bytes) => bytes.toString("base64")).join(" ");
}
