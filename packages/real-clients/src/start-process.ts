import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** A program that a test has started. It is ended with the test. */
export interface Process {
  /** Lines of its standard output and error so far; it grows. */
  readonly lines: readonly string[];
  /** The way it ended; undefined while it runs. */
  readonly ended: string | undefined;
  /** Writes a line to its standard input. */
  write(line: string): void;
  /** Its id in the system. */
  readonly pid: number;
  /** Sends it a signal, if it runs. */
  signal(signal: NodeJS.Signals): void;
  /** Asks it to end, and makes it end after 5 s. Resolves when it has. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** The options of {@link startProcess}. */
export interface ProcessOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Gets the lines of its standard output and error, which are not kept then. */
  readonly onLine?: (line: string) => void;
  /** Called once, with how it ended. */
  readonly onEnd?: (how: string) => void;
}

/** Starts a program in the foreground. */
export function startProcess(
  command: string,
  args: readonly string[],
  { cwd, env, onLine, onEnd }: ProcessOptions = {},
): Process {
  const child = spawn(command, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env },
    stdio: "pipe",
  });
  const lines: string[] = [];
  let ended: string | undefined;
  const settled = new Promise<void>((resolve) => {
    child.on("error", (error) => {
      ended ??= error.message;
      resolve();
    });
    child.on("close", (code, signal) => {
      ended ??= `ended with ${signal ?? String(code)}`;
      resolve();
    });
  });
  void settled.then(() => onEnd?.(ended ?? ""));
  const take =
    onLine ??
    ((line: string): void => {
      lines.push(line);
    });
  for (const stream of [child.stdout, child.stderr]) collect(stream, take);
  child.stdin.on("error", () => undefined);
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    if (ended === undefined) child.kill(signal);
    // A stopped program reacts to this signal only.
    if (ended === undefined) child.kill("SIGCONT");
    const late = setTimeout(() => {
      child.kill("SIGKILL");
    }, 5000);
    await settled;
    clearTimeout(late);
  };
  onTestFinished(() => stop());
  return {
    lines,
    get ended() {
      return ended;
    },
    pid: child.pid ?? 0,
    signal: (signal) => {
      if (ended === undefined) child.kill(signal);
    },
    write: (line) => {
      child.stdin.write(`${line}\n`);
    },
    stop,
  };
}

function collect(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  // A line may have many megabytes, so it is joined once.
  let rest: string[] = [];
  stream.on("data", (chunk: Buffer) => {
    const [first = "", ...others] = chunk.toString().split("\n");
    rest.push(first);
    for (const next of others) {
      take(rest.join(""));
      rest = [next];
    }
  });
  void once(stream, "end").then(() => {
    const last = rest.join("");
    if (last !== "") take(last);
  });
}
