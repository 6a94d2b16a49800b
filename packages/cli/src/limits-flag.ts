import type { ChannelLimits } from "@xdstp/grpc/client";
import type { GrpcLimits } from "@xdstp/grpc/server";
import { CliError } from "./cli-error.ts";
import type { CommandCall } from "./command.ts";
import type { NamedLimits } from "./named-limits.ts";
import type { StatusLimits } from "./status-client.ts";

const LARGEST = 0x7fff_ffff;

/** An option that sets limits. */
interface LimitOption<Limits> {
  readonly option: "limit" | "channel-limit";
  /** Loads all limits with their defaults. It is called only if the option is given, since few calls need these packages. */
  readonly defaults: () => Promise<Limits>;
  readonly example: string;
}

/** `--limit` of a command that serves resources. */
export const serverLimits: LimitOption<NamedLimits> = {
  option: "limit",
  defaults: async () => (await import("./named-limits.ts")).defaultNamedLimits,
  example: "messageMs=60000",
};

/** `--limit` of a server that does not serve resources of its own: limits of connections, calls and messages. */
export const wireLimits: LimitOption<GrpcLimits> = {
  option: "limit",
  defaults: async () => (await import("@xdstp/grpc/server")).defaultGrpcLimits,
  example: "messageMs=60000",
};

/** `--channel-limit`: limits on messages of the servers that the command connects to. */
export const channelLimits: LimitOption<ChannelLimits> = {
  option: "channel-limit",
  defaults: async () => (await import("@xdstp/grpc/client")).defaultChannelLimits,
  example: "maxMessageBytes=200000000",
};

/** `--channel-limit` of a command that makes single requests. */
export const statusLimits: LimitOption<StatusLimits> = {
  option: "channel-limit",
  defaults: async () => (await import("./status-client.ts")).defaultStatusLimits,
  example: "maxMessageBytes=200000000",
};

/** Reads the limits of the form `NAME=NUMBER`. Throws a CliError for a name that does not exist, or a number that is not from 1 to 2147483647. */
export async function limitsFlag<Limits extends object>(
  call: CommandCall,
  option: LimitOption<Limits>,
): Promise<Partial<Limits>> {
  const texts = call.texts(option.option);
  if (texts.length === 0) return {};
  const defaults = await option.defaults();
  return Object.fromEntries(
    texts.map((text) => limitFrom(text, option, defaults)),
  ) as Partial<Limits>;
}

function limitFrom(
  text: string,
  { option, example }: Omit<LimitOption<object>, "defaults">,
  defaults: object,
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
      `--${option} ${name}: this limit does not exist; the limits are ${Object.keys(defaults).sort().join(", ")}`,
    );
  const value = Number(digits);
  if (value < 1 || value > LARGEST)
    throw new CliError(2, `--${option} ${text}: give a number from 1 to ${LARGEST}`);
  return [name, value];
}
