import type { CliIo } from "./cli-io.ts";

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
