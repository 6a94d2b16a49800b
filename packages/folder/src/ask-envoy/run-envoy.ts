import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@xdstp/core";

/** The program to run, and its limits. */
export interface EnvoyProgram {
  /** A path, or a name that is searched for in `PATH`. */
  readonly command: string;
  /** The directory that relative paths of a configuration start from. */
  readonly cwd: string;
  readonly clock: Clock;
  /** Milliseconds for one configuration. */
  readonly timeoutMs: number;
  /** Aborting it ends the running programs. */
  readonly signal: AbortSignal | undefined;
}

/** The verdict of Envoy on a configuration. */
export type EnvoyVerdict =
  | { readonly kind: "accepted" }
  /** `text`: the reason, as Envoy writes it. It may contain the whole configuration. */
  | { readonly kind: "rejected"; readonly text: string }
  /** Envoy has ended without a verdict, for instance by a signal. `text`: the predicate of a sentence about Envoy. */
  | { readonly kind: "failed"; readonly text: string };

/** An Envoy that reads configurations and serves none of them. */
export interface RunningEnvoy {
  /** The version, such as `1.40.0`. */
  readonly version: string;
  /** Checks a file. */
  readonly readFile: (file: string) => Promise<EnvoyVerdict>;
  /** Checks a configuration. It is written to a file that only this user can read, and that is removed afterwards. */
  readonly readJson: (json: object) => Promise<EnvoyVerdict>;
}

/** The reason why a program cannot be used. */
export interface UnusableEnvoy {
  /** The rest of a sentence, such as `does not exist; give the path of an Envoy`. */
  readonly unusable: string;
}

/**
 * Calls `use` with an Envoy, in a directory that is private to this user (mode 0700). The directory is removed at the end, also if the process exits before.
 * Rejects with the reason of the signal when it is aborted.
 */
export async function withEnvoy<T>(
  program: EnvoyProgram,
  use: (envoy: RunningEnvoy) => Promise<T>,
): Promise<T | UnusableEnvoy> {
  const dir = mkdtempSync(join(tmpdir(), "xdstp-envoy-"));
  const remove = (): void => {
    rmSync(dir, { recursive: true, force: true });
  };
  process.once("exit", remove);
  try {
    const runs: Runs = { program, dir, count: 0, turn: createTurns() };
    const said = await run(["--version"], runs);
    const version = versionIn(said.output);
    if (version === undefined) return { unusable: whyUnusable(said) };
    const readFile = async (file: string): Promise<EnvoyVerdict> =>
      verdictOf(
        await run(["--mode", "validate", "-c", file, "-l", "error", "--disable-hot-restart"], runs),
      );
    return await use({
      version,
      readFile,
      async readJson(json) {
        const file = join(dir, `${runs.count++}.json`);
        writeFileSync(file, JSON.stringify(json), { mode: 0o600 });
        try {
          return await readFile(file);
        } finally {
          rmSync(file, { force: true });
        }
      },
    });
  } finally {
    process.off("exit", remove);
    remove();
  }
}

interface Runs {
  readonly program: EnvoyProgram;
  readonly dir: string;
  count: number;
  readonly turn: Turns;
}

/** Runs a function as soon as fewer than {@link parallel} others run. */
type Turns = <T>(run: () => Promise<T>) => Promise<T>;

/** The number of Envoys that run at the same time. Each needs a processor core and about 100 MB. */
export const parallel: number = Math.max(1, Math.min(4, availableParallelism()));

function createTurns(): Turns {
  let free = parallel;
  const waiting: (() => void)[] = [];
  return async (run) => {
    if (free === 0)
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    else free--;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

/** The end of a process, and its output. */
type Ended = { readonly output: string } & (
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "killed"; readonly by: string }
  | { readonly kind: "timeout"; readonly timeoutMs: number }
  | { readonly kind: "not-started"; readonly code: string }
);

async function run(args: readonly string[], runs: Runs): Promise<Ended> {
  return runs.turn(() => runNow(args, runs));
}

async function runNow(args: readonly string[], runs: Runs): Promise<Ended> {
  const { command, cwd, clock, timeoutMs, signal } = runs.program;
  signal?.throwIfAborted();
  const log = join(runs.dir, `${runs.count++}.log`);
  // The output is a file, because an Envoy whose output is a pipe cannot open /dev/stdout for an access log.
  const output = openSync(log, "wx", 0o600);
  try {
    const ended = await new Promise<DistributiveOmit<Ended, "output">>((resolve) => {
      // The process has a group of its own, so that processes which a script starts end with it.
      const child = spawn(command, args, {
        cwd,
        stdio: ["ignore", output, output],
        detached: true,
      });
      const kill = (): void => {
        killGroup(child);
      };
      const timer = clock.after(timeoutMs, () => {
        resolve({ kind: "timeout", timeoutMs });
        kill();
      });
      const settle = (how: DistributiveOmit<Ended, "output">): void => {
        timer.cancel();
        signal?.removeEventListener("abort", kill);
        process.off("exit", kill);
        resolve(how);
      };
      signal?.addEventListener("abort", kill);
      process.once("exit", kill);
      child.once("error", (error: NodeJS.ErrnoException) => {
        settle({ kind: "not-started", code: error.code ?? error.message });
      });
      child.once("exit", (code, by) => {
        settle(code === null ? { kind: "killed", by: by ?? "" } : { kind: "exited", code });
      });
    });
    signal?.throwIfAborted();
    return { ...ended, output: readFileSync(log, "utf8") };
  } finally {
    closeSync(output);
    rmSync(log, { force: true });
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}

function versionIn(output: string): string | undefined {
  return /\bversion: [0-9a-f]+\/(\d+\.\d+\.\d+[^/\s]*)\//.exec(output)?.[1];
}

function whyUnusable(said: Ended): string {
  switch (said.kind) {
    case "not-started":
      return startTroubles[said.code] ?? `cannot be started (${said.code})`;
    case "timeout":
      return `has not said its version within ${said.timeoutMs / 1_000} s; give the program of an Envoy`;
    case "killed":
      return `ends with ${said.by} instead of saying its version; give an Envoy that runs on this machine`;
    case "exited":
      return "is not an Envoy: it does not say its version as Envoy does; give the program of an Envoy";
  }
}

const startTroubles: Readonly<Record<string, string>> = {
  ENOENT: "does not exist; give the path of an Envoy, or a name that is in PATH",
  EACCES: "may not be run by this user; give it the right to, or give another one",
  ENOEXEC: "is not a program of this machine; give an Envoy that runs here",
  EISDIR: "is a folder; give the program of an Envoy",
};

function verdictOf(ended: Ended): EnvoyVerdict {
  switch (ended.kind) {
    case "exited": {
      if (ended.code === 0 && /^configuration '.*' OK$/ms.test(ended.output))
        return { kind: "accepted" };
      const text = /error initializing config\w* '[^\n]*?': (.*)/s.exec(ended.output)?.[1];
      return text === undefined
        ? { kind: "failed", text: `ends with exit code ${ended.code} and without a reason` }
        : { kind: "rejected", text: withoutLaterLines(text) };
    }
    case "killed":
      return { kind: "failed", text: `ends with ${ended.by}` };
    case "timeout":
      return { kind: "failed", text: `does not answer within ${ended.timeoutMs / 1_000} s` };
    case "not-started":
      return { kind: "failed", text: `cannot be started (${ended.code})` };
  }
}

/** Returns the text without the lines that Envoy logs after it. */
function withoutLaterLines(text: string): string {
  return text.replace(/\n\[\d{4}-\d\d-\d\d .*$/s, "").trim();
}
