import { readFile } from "node:fs/promises";
import { XdsError } from "@xdstp/core";
import { parsePolicy, type ParsePolicyOptions, type PolicyRule } from "@xdstp/policy/file";
import { CliError } from "./cli-error.ts";

/** A policy file as it was read. */
export interface PolicyFile {
  readonly text: string;
  readonly rules: readonly PolicyRule[];
}

/** Reads a policy file. Throws a CliError that names file, line and reason. */
export async function readPolicyFile(
  file: string,
  options: ParsePolicyOptions,
): Promise<PolicyFile> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(
      1,
      `--policy ${file}: ${code === "ENOENT" ? "there is no such file" : `it cannot be read (${code ?? message})`}; give a file of rules`,
      { cause: error },
    );
  });
  try {
    return { text, rules: parsePolicy(text, file, options) };
  } catch (error) {
    throw error instanceof XdsError ? new CliError(1, error.text, { cause: error }) : error;
  }
}
