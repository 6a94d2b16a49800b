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

/** A policy file that is in use, and how it is followed. */
interface OpenPolicyFile {
  readonly book: RulePolicies;
  readonly followed: Omit<FollowOptions<PolicyFile>, "clock" | "onChange">;
}

/** Puts the rules of a policy file to use. Throws a CliError that names file, line and reason. */
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
