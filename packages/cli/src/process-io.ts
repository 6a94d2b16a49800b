import { fstatSync, readFileSync, writeSync } from "node:fs";
import { systemClock } from "@xdstp/core";
import type { CliIo, StopSignal, TerminalSize, TextOutput } from "./cli-io.ts";
import { CliError } from "./cli-error.ts";

/** The command's view of this process. */
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

/** A terminal that does not say its size has the classic one. */
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
 * A file as an output: each write is done when it returns, and throws a CliError where the file cannot be written, on a full disk for instance.
 * The next write tries again, on a new line where a write has ended in the middle of one; a stream of Node would be closed by the first error.
 * @param write - Writes the bytes from an offset on and returns how many were written; that of `node:fs` unless a test gives another
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

/** Whether a descriptor is a file, or a device that is not a terminal. */
function isFile(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() || stats.isCharacterDevice();
  } catch {
    return false;
  }
}

/** What Node does in a thread of its own: it reads files, and asks the system for the address of a name. */
const threadWork: readonly string[] = ["FSReqPromise", "GetAddrInfoReqWrap"];

/** Whether a file system or DNS has been asked and has not answered yet. */
export function isThreadBusy(): boolean {
  return process.getActiveResourcesInfo().some((resource) => threadWork.includes(resource));
}

/**
 * Ends this process with its exit code, also while a thread waits for a file system or DNS that hangs.
 * `process.exit()` waits for such a thread, up to 30 s for DNS and without end for a file system. A process that is replaced by another program does not, so an empty one takes its place.
 */
export function leaveProcess(): void {
  if (isThreadBusy())
    process.execve?.(
      process.execPath,
      [process.execPath, "--eval", `process.exitCode = ${Number(process.exitCode ?? 0)}`],
      {},
    );
  // Where the system or the version of Node cannot do that, only a signal is left.
  if (isThreadBusy()) process.kill(process.pid, "SIGKILL");
  process.exit();
}

/** What package.json says of this package. */
export function ownManifest(): {
  readonly version: string;
  readonly repository: { readonly url: string };
} {
  return JSON.parse(
    readFileSync(new URL("../package.json", import.meta.url), "utf8"),
  ) as ReturnType<typeof ownManifest>;
}

/** The version of this package. */
export function ownVersion(): string {
  return ownManifest().version;
}
