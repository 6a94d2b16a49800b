import type { Writable } from "node:stream";
import type { StopSignal } from "./cli-io.ts";
import { isThreadBusy, leaveProcess, processIo } from "./process-io.ts";
import { runCli } from "./run-cli.ts";
import { leaveScreen } from "./style.ts";

let isLost = false;

// A crash must not leave the terminal on the page of the live table.
process.on("uncaughtExceptionMonitor", () => {
  if (process.stdout.isTTY) process.stdout.write(leaveScreen);
});

// A reader that has closed the pipe does not end the process: long-running commands notice it by themselves. Any other error of writing is a failure, reported once.
for (const output of [process.stdout, process.stderr]) {
  output.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE" || isLost) return;
    isLost = true;
    process.once("exit", () => {
      process.exitCode = 1;
    });
    process.stderr.write(
      `xdstp: the output cannot be written (${error.message}); make room, or write it elsewhere\n`,
    );
  });
}

const io = processIo();
const signals: StopSignal[] = [];

process.exitCode = await runCli(process.argv.slice(2), {
  ...io,
  onSignal: (listener) =>
    io.onSignal((signal) => {
      signals.push(signal);
      listener(signal);
    }),
});

// A reader of a pipe that is slower than this process still gets the whole output. After a signal nothing waits for a reader.
if (signals.length === 0) await Promise.all([process.stdout, process.stderr].map(writtenOut));

// Usually nothing is left open, and the process ends by itself. After a second Ctrl-C it must not wait for what is.
setTimeout(() => {
  if (!isThreadBusy()) process.exit();
  setTimeout(leaveProcess, 1_000).unref();
}, 50).unref();

/** Resolves when an output has passed all its bytes to the system, or has failed. The system buffers about 64 KiB of a pipe, so this takes as long as the reader takes. */
async function writtenOut(output: Writable): Promise<void> {
  if (output.writableLength === 0) return;
  await new Promise<void>((resolve) => {
    output.write("", () => {
      resolve();
    });
  });
}
