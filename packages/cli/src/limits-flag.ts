import { type ChannelLimits, defaultChannelLimits } from "@xdstp/grpc/client";
import { defaultServerLimits, type ServerLimits } from "@xdstp/server";
import { CliError } from "./cli-error.ts";
import type { CommandCall } from "./command.ts";

const LARGEST = 0x7fff_ffff;

/** The limits that `--limit NAME=NUMBER` sets. Throws a CliError that names the first one that does not exist or has no such value. */
export function limitsFlag(call: CommandCall): Partial<ServerLimits> {
  return limitsFrom(call, {
    option: "limit",
    defaults: defaultServerLimits,
    example: "messageMs=60000",
  });
}

/** The same of `--channel-limit NAME=NUMBER`: what is taken from the servers that are asked. */
export function channelLimitsFlag(call: CommandCall): Partial<ChannelLimits> {
  return limitsFrom(call, {
    option: "channel-limit",
    defaults: defaultChannelLimits,
    example: "maxMessageBytes=200000000",
  });
}

/** An option that sets limits. */
interface LimitOption {
  readonly option: "limit" | "channel-limit";
  /** All limits that there are, with their usual values. */
  readonly defaults: object;
  readonly example: string;
}

function limitsFrom(call: CommandCall, option: LimitOption): Readonly<Record<string, number>> {
  return Object.fromEntries(call.texts(option.option).map((text) => limitFrom(text, option)));
}

function limitFrom(
  text: string,
  { option, defaults, example }: LimitOption,
): readonly [name: string, value: number] {
  const [, name, digits] = /^([A-Za-z]+)=(\d+)$/.exec(text) ?? [];
  if (name === undefined)
    throw new CliError(
      2,
      `--${option} ${JSON.stringify(text)}: give NAME=NUMBER, such as ${example}`,
    );
  if (!Object.hasOwn(defaults, name))
    throw new CliError(
      2,
      `--${option} ${name}: there is no such limit; the limits are ${Object.keys(defaults).sort().join(", ")}`,
    );
  const value = Number(digits);
  if (value < 1 || value > LARGEST)
    throw new CliError(2, `--${option} ${text}: give a number from 1 to ${LARGEST}`);
  return [name, value];
}
