import { systemClock } from "@xdstp/core";
import { onTestFailed, onTestFinished } from "vitest";
import type { CliIo, StopSignal } from "../src/cli-io.ts";
import { runCli } from "../src/run-cli.ts";
import { createTextSink, type TextSink } from "./text-sink.ts";

/** A running command with its outputs. */
export interface RunningCli {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  readonly exit: Promise<number>;
  readonly signal: (signal: StopSignal) => void;
  /** Returns the port of the line that reports the address. */
  readonly port: () => Promise<number>;
}

/** Runs the command inside of this process. It is stopped after the test. */
export function useCli(argv: readonly string[], io: Partial<CliIo> = {}): RunningCli {
  const stdout = createTextSink();
  const stderr = createTextSink();
  const listeners = new Set<(signal: StopSignal) => void>();
  const onSignal = (listener: (signal: StopSignal) => void): (() => void) => {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  };
  const world: CliIo = {
    stdout,
    stderr,
    env: {},
    cwd: process.cwd(),
    terminal: () => undefined,
    interactive: true,
    onSignal,
    clock: systemClock,
    nodeVersion: "99.0.0",
    ...io,
  };
  const exit = runCli(argv, world).finally(() => {
    stdout.end();
    stderr.end();
  });
  const cli: RunningCli = {
    stdout,
    stderr,
    exit,
    signal(signal) {
      for (const listener of [...listeners]) listener(signal);
    },
    async port() {
      return Number(/127\.0\.0\.1(?::|","port":)(\d+)/.exec(await stdout.line(/listening/))?.[1]);
    },
  };
  // `afterEach` would run for the first test file only, since all files share this module.
  onTestFinished(async () => {
    cli.signal("SIGINT");
    cli.signal("SIGINT");
    await exit;
  });
  // The output of the command shows why a test failed.
  onTestFailed(() => {
    console.error(`xdstp ${argv.join(" ")}\n${stdout.text}${stderr.text}`);
  });
  return cli;
}

/** Runs a command that ends by itself. */
export async function runToEnd(
  argv: readonly string[],
  io: Partial<CliIo> = {},
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const { exit, stdout, stderr } = useCli(argv, io);
  const code = await exit;
  return { code, out: stdout.text, err: stderr.text };
}
