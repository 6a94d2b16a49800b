#!/usr/bin/env node
import { isThreadBusy, leaveProcess } from "./leave-process.ts";
import { runCli } from "./run-cli.ts";
import { leaveScreen } from "./terminal-codes.ts";

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

process.exitCode = await runCli(process.argv.slice(2));

// Usually nothing is left open, and the process ends by itself. After a second Ctrl-C it must not wait for what is.
setTimeout(() => {
  if (!isThreadBusy()) process.exit();
  setTimeout(leaveProcess, 1_000).unref();
}, 50).unref();
