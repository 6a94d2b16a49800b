import { spawn } from "node:child_process";
import { constants } from "node:os";
import { root } from "./root.ts";

/** The options of a program run. */
export interface RunOptions {
  /** Absent: the root of the checkout. */
  readonly cwd?: string;
  /** Next to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** The program is ended after this time. Absent: it may run for ever. */
  readonly timeoutMs?: number;
  /** Ends the program; its exit is waited for. */
  readonly signal?: AbortSignal;
}

/** Runs a program with its output shown, and gives its exit code; a program that cannot be started is 127. Windows: through the shell, for the `.cmd` links of node_modules/.bin. */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<number> {
  const child = spawn(command, args, {
    cwd: options.cwd ?? root,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
    timeout: options.timeoutMs ?? 0,
    signal: options.signal,
  });
  return new Promise((resolve) => {
    child.on("error", (error) => {
      if (error.name === "AbortError") return;
      console.error(`cannot run ${command}: ${error.message}`);
      resolve(127);
    });
    child.on("exit", (code, signal) => {
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
