import { CliError } from "./cli-error.ts";
import type { CommandCall } from "./command.ts";

/** Seconds of an option, in milliseconds. Throws a CliError that names it. */
export function secondsFlag(call: CommandCall, name: string): number | undefined {
  const text = call.text(name);
  if (text === undefined) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= 86_400) return seconds * 1_000;
  throw new CliError(2, `--${name} ${JSON.stringify(text)}: give seconds, up to 86400`);
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
