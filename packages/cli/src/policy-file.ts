import { readFile } from "node:fs/promises";
import { CliError } from "./cli-error.ts";
import { type PolicyRule, policyRules, type PolicyRulesOptions } from "./policy-rules.ts";

/** A policy file as it was read. */
export interface PolicyFile {
  readonly text: string;
  readonly rules: readonly PolicyRule[];
}

/** Reads a policy file. Throws a CliError that names file, line and reason. */
export async function readPolicyFile(
  file: string,
  options: PolicyRulesOptions,
): Promise<PolicyFile> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(
      1,
      `--policy ${file}: ${code === "ENOENT" ? "there is no such file" : `it cannot be read (${code ?? message})`}; give a file of rules`,
      { cause: error },
    );
  });
  return { text, rules: policyRules(text, file, options) };
}
