import { readFile } from "node:fs/promises";
import {
  createRulePolicies,
  parsePolicy,
  type PolicyRule,
  type RulePolicies,
} from "@xdstp/policy/file";
import { asCliError, unreadable } from "./cli-error.ts";
import type { FollowOptions } from "./follow-files.ts";

type ParsePolicyOptions = NonNullable<Parameters<typeof parsePolicy>[2]>;

interface PolicyFile {
  readonly text: string;
  readonly rules: readonly PolicyRule[];
}

/** A policy file in use, and the options to follow its changes. */
interface OpenPolicyFile {
  readonly book: RulePolicies;
  readonly followed: Omit<FollowOptions<PolicyFile>, "clock" | "onChange">;
}

/** Reads a policy file and applies its rules. Throws a CliError with the file, the line and the reason. */
export async function openPolicyFile(
  file: string,
  options: ParsePolicyOptions,
): Promise<OpenPolicyFile> {
  const first = await readPolicyFile(file, options);
  const book = createRulePolicies(first.rules);
  return {
    book,
    followed: {
      files: [file],
      first,
      read: async () => readPolicyFile(file, options),
      fingerprint: ({ text }) => text,
      apply: ({ rules }) => {
        book.apply(rules);
      },
    },
  };
}

async function readPolicyFile(file: string, options: ParsePolicyOptions): Promise<PolicyFile> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw unreadable(error, `--policy ${file}`, "give a file of rules");
  });
  try {
    return { text, rules: parsePolicy(text, file, options) };
  } catch (error) {
    throw asCliError(error);
  }
}
