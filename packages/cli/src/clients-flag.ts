import type { ResourceClient } from "@xdstp/folder";
import { CliError } from "./cli-error.ts";
import type { CommandCall, CommandOption } from "./command.ts";

/** The option `--for`. */
export const clientsOption: CommandOption = {
  value: "envoy|grpc",
  multiple: true,
  help: "whose rules resources have to follow; may be given twice (default envoy)",
};

const known: readonly ResourceClient[] = ["envoy", "grpc"];

/** Returns the values of `--for`. Default: envoy. Throws a CliError for another word. */
export function clientsOf(call: CommandCall): readonly ResourceClient[] {
  const clients = call.texts("for").map((text) => {
    const found = known.find((one) => one === text);
    if (found !== undefined) return found;
    throw new CliError(2, `--for ${JSON.stringify(text)}: give envoy or grpc`);
  });
  return clients.length === 0 ? ["envoy"] : [...new Set(clients)];
}
