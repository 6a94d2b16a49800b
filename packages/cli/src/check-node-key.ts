import { nodeField } from "@xdstp/cache";
import { XdsError } from "@xdstp/core";
import { CliError } from "./cli-error.ts";

/** Throws a CliError if the value of `--node-key` is not a field of a node. */
export function checkNodeKey(field: string): void {
  try {
    nodeField(field);
  } catch (error) {
    throw new CliError(2, `--node-key: ${XdsError.from(error).text}`, { cause: error });
  }
}
