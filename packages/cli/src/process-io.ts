import { fstatSync, readFileSync, writeSync } from "node:fs";
import { systemClock } from "@xdstp/core";
import type { CliIo, StopSignal, TerminalSize, TextOutput } from "./cli-io.ts";
import { CliError } from "./cli-error.ts";

/** Returns the environment of a command in this process. */
export function processIo(): CliIo {
  const { stdout, stderr, env } = process;
  return {
    stdout: !stdout.isTTY && isFile(stdout.fd) ? createFileOutput(stdout.fd) : stdout,
    stderr,
    env,
    interactive: stderr.isTTY,
    cwd: process.cwd(),
    clock: systemClock,
    nodeVersion: process.versions.node,
    terminal: () => (stdout.isTTY && env.TERM !== "dumb" ? sizeOf(stdout) : undefined),
    onSignal: listen,
  };
}

/** Returns the size of a terminal. A terminal that does not report its size gets 80 columns and 24 rows. */
function sizeOf({ columns, rows }: NodeJS.WriteStream): TerminalSize {
  return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function listen(listener: (signal: StopSignal) => void): () => void {
  const onOutputError = (): void => {
    listener("SIGPIPE");
  };
  for (const signal of signals) process.on(signal, listener);
  process.stdout.once("error", onOutputError);
  return () => {
    for (const signal of signals) process.off(signal, listener);
    process.stdout.off("error", onOutputError);
  };
}

/**
 * Returns an output that writes to a file. Each write is complete when `write` returns. It throws a CliError if the file cannot be written, for instance because the disk is full.
 * The next write tries again, and begins with a line end if the write before ended in the middle of a line. (The first error would close a stream of Node.)
 * @param write - Writes the bytes from an offset and returns the number of bytes written. Default: `writeSync` of `node:fs`
 */
export function createFileOutput(
  descriptor: number,
  write: (descriptor: number, bytes: Uint8Array, offset: number) => number = writeSync,
): TextOutput {
  let isCut = false;
  return {
    write(text) {
      const bytes = Buffer.from(isCut ? `\n${text}` : text);
      let at = 0;
      try {
        while (at < bytes.length) at += write(descriptor, bytes, at);
        isCut = false;
      } catch (cause) {
        if (at > 0) isCut = bytes[at - 1] !== newline;
        throw new CliError(
          1,
          `the output cannot be written (${cause instanceof Error ? cause.message : String(cause)}); make room, or write it elsewhere`,
          { cause },
        );
      }
    },
  };
}

const newline = 0x0a;

/** Returns true if a descriptor is a file, or a device that is not a terminal. */
function isFile(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() || stats.isCharacterDevice();
  } catch {
    return false;
  }
}

/** Work that Node does in other threads: reading files, and resolving host names. */
const threadWork: readonly string[] = ["FSReqPromise", "GetAddrInfoReqWrap"];

/** Returns true if a request to the file system or to DNS has not been answered yet. */
export function isThreadBusy(): boolean {
  return process.getActiveResourcesInfo().some((resource) => threadWork.includes(resource));
}

/**
 * Ends this process with its exit code, even if a thread waits for a file system or for DNS.
 * `process.exit()` waits for such a thread: up to 30 s for DNS, and without end for a file system that does not answer. Replacing the process by another program does not wait, so it is replaced by one that only exits with this code.
 */
export function leaveProcess(): void {
  if (isThreadBusy())
    process.execve?.(
      process.execPath,
      [process.execPath, "--eval", `process.exitCode = ${Number(process.exitCode ?? 0)}`],
      {},
    );
  // If the system or the version of Node does not have `execve`, only a signal ends the process.
  if (isThreadBusy()) process.kill(process.pid, "SIGKILL");
  process.exit();
}

/** Returns the package.json of this package. */
export function ownManifest(): {
  readonly version: string;
  readonly repository: { readonly url: string };
} {
  return JSON.parse(
    readFileSync(new URL("../package.json", import.meta.url), "utf8"),
  ) as ReturnType<typeof ownManifest>;
}

/** Returns the version of this package. */
export function ownVersion(): string {
  return ownManifest().version;
}
