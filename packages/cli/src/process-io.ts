import { systemClock } from "@xdstp/core";
import type { CliIo, StopSignal, TerminalSize } from "./cli-io.ts";
import { createFileOutput, isFile } from "./file-output.ts";

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
