import { isAbsolute, resolve } from "node:path";
import type { CliIo } from "./cli-io.ts";
import { CliError } from "./cli-error.ts";

/** One option of a command. */
export interface CommandOption {
  /** The placeholder of its value in a usage; absent: it has none. */
  readonly value?: string;
  /** It may be given several times. */
  readonly multiple?: true;
  /** What it does, and its default. */
  readonly help: string;
}

/** A call of a command, read but not yet judged. */
export interface CommandCall {
  readonly positionals: readonly string[];
  /** Whether an option without a value is given. */
  flag(name: string): boolean;
  /** The value of an option. One that takes a single value is rejected where it is given twice. */
  text(name: string): string | undefined;
  /** All values of an option. */
  texts(name: string): readonly string[];
}

/** One command of `xdstp`, as data: its help and its reading of arguments come from here. */
export interface Command {
  readonly name: string;
  /** One line: what it does. */
  readonly summary: string;
  /** The call in one line. */
  readonly usage: string;
  /** What else people should know; each a paragraph. */
  readonly notes: readonly string[];
  readonly options: Readonly<Record<string, CommandOption>>;
  /** A call that works. */
  readonly example: string;
  /** Does the work; the answer is the exit code. Throws a CliError where it cannot. */
  run(call: CommandCall, io: CliIo): Promise<number>;
}

/** Throws a CliError for the first of the arguments that a command does not take. `wayOut`: what it takes. */
export function takeNoMore([extra]: readonly string[], wayOut: string): void {
  if (extra !== undefined)
    throw new CliError(2, `${JSON.stringify(extra)} is one argument too many${wayOut}`);
}

/** Seconds of an option, in milliseconds. Throws a CliError that names it. */
export function secondsFlag(call: CommandCall, name: string, most = 86_400): number | undefined {
  const text = call.text(name);
  if (text === undefined) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= most) return seconds * 1_000;
  throw new CliError(2, `--${name} ${JSON.stringify(text)}: give seconds, up to ${most}`);
}

/** A count from 1. Throws a CliError that names the option. */
export function countFlag(call: CommandCall, name: string): number | undefined {
  const text = call.text(name);
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new CliError(2, `--${name} ${JSON.stringify(text)}: give a number from 1`);
}

/** One of a few words. Throws a CliError that names the option. */
export function wordFlag<const T extends string>(
  call: CommandCall,
  name: string,
  known: readonly T[],
): T | undefined {
  const text = call.text(name);
  const found = known.find((one) => one === text);
  if (text !== undefined && found === undefined)
    throw new CliError(
      2,
      `--${name} ${JSON.stringify(text)}: give ${known.join(", ").replace(/, (?=[^,]*$)/, " or ")}`,
    );
  return found;
}

/** A path that counts from `cwd`. Where this is the process's own, it stays as people wrote it, and messages show it so. */
export function pathFrom(cwd: string, path: string): string {
  return isAbsolute(path) || cwd === process.cwd() ? path : resolve(cwd, path);
}
