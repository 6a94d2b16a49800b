import { isAbsolute, resolve } from "node:path";
import type { CliIo } from "./cli-io.ts";
import { CliError } from "./cli-error.ts";

/** One option of a command. */
export interface CommandOption {
  /** The placeholder of its value in a usage line. Absent: the option has no value. */
  readonly value?: string;
  /** true: the option may be given several times. */
  readonly multiple?: true;
  /** The effect of the option, and its default. */
  readonly help: string;
}

/** The parsed arguments of a command. Their values are not checked yet. */
export interface CommandCall {
  readonly positionals: readonly string[];
  /** Returns true if an option without a value is given. */
  flag(name: string): boolean;
  /** Returns the value of an option, or `undefined` if it is not given. For an option that may be given several times, this is the last value. */
  text(name: string): string | undefined;
  /** Returns all values of an option. */
  texts(name: string): readonly string[];
}

/** One command of `xdstp`. The help text and the reading of arguments are made from this description. */
export interface Command {
  readonly name: string;
  /** One line that says what the command does. */
  readonly summary: string;
  /** The call in one line. */
  readonly usage: string;
  /** Paragraphs of the help text, between the usage and the options. */
  readonly notes: readonly string[];
  readonly options: Readonly<Record<string, CommandOption>>;
  /** A call that works. */
  readonly example: string;
  /** Runs the command and returns the exit code. Throws a CliError if it fails. */
  run(call: CommandCall, io: CliIo): Promise<number>;
}

/** Throws a CliError for an argument that a command does not accept. `wayOut`: the arguments that it accepts, for the end of the text. */
export function takeNoMore([extra]: readonly string[], wayOut: string): void {
  if (extra !== undefined)
    throw new CliError(2, `${JSON.stringify(extra)} is one argument too many${wayOut}`);
}

/** Returns the value of an option in milliseconds; it is given in seconds. Throws a CliError for another text, and for 0 or more than `most` seconds (default: a day). */
export function secondsFlag(call: CommandCall, name: string, most = 86_400): number | undefined {
  const text = call.text(name);
  if (text === undefined) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= most) return seconds * 1_000;
  throw new CliError(2, `--${name} ${JSON.stringify(text)}: give seconds, up to ${most}`);
}

/** Returns the value of an option as a number from 1 to 999,999,999. Throws a CliError for another text. */
export function countFlag(call: CommandCall, name: string): number | undefined {
  const text = call.text(name);
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new CliError(2, `--${name} ${JSON.stringify(text)}: give a number from 1`);
}

/** Returns the value of an option that has to be one of the `known` words. Throws a CliError for another text. */
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

/** Resolves a path relative to `cwd`. If `cwd` is the working directory of the process, the path stays as it was typed, so that messages show it that way. */
export function pathFrom(cwd: string, path: string): string {
  return isAbsolute(path) || cwd === process.cwd() ? path : resolve(cwd, path);
}
