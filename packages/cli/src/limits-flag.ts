import { defaultServerLimits, type ServerLimits } from "@xdstp/server";
import { CliError } from "./cli-error.ts";
import type { CommandCall } from "./command.ts";

const LARGEST = 0x7fff_ffff;

/** The limits that `--limit NAME=NUMBER` sets. Throws a CliError that names the first one that does not exist or has no such value. */
export function limitsFlag(call: CommandCall): Partial<ServerLimits> {
  return Object.fromEntries(call.texts("limit").map(limitFrom));
}

function limitFrom(text: string): readonly [name: string, value: number] {
  const [, name, digits] = /^([A-Za-z]+)=(\d+)$/.exec(text) ?? [];
  if (name === undefined) throw new CliError(2, `--limit ${JSON.stringify(text)}: give NAME=NUMBER, such as messageMs=60000`);
  if (!Object.hasOwn(defaultServerLimits, name)) throw new CliError(2, `--limit ${name}: there is no such limit; the limits are ${Object.keys(defaultServerLimits).sort().join(", ")}`);
  const value = Number(digits);
  if (value < 1 || value > LARGEST) throw new CliError(2, `--limit ${text}: give a number from 1 to ${LARGEST}`);
  return [name, value];
}
