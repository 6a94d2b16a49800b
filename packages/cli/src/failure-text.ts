import { CliError } from "./cli-error.ts";
import { withRule } from "./error-text.ts";
import { escapeText } from "./escape-text.ts";
import { jsonText } from "./json-text.ts";
import { usageText } from "./usage-text.ts";

/** What a {@link failureText} has to know of the call. */
export interface FailedCall {
  /** The command; absent: there is no such command, or none was given. */
  readonly name?: string | undefined;
  readonly usage: string;
  /** One JSON object, for programs. */
  readonly json: boolean;
  /** In milliseconds since the epoch. */
  readonly time: number;
}

/** Why a command failed, for stderr, and the exit code. Called the wrong way it gets the usage too; what is not a CliError is a fault of ours: then the place of it matters more than brevity. */
export function failureText(
  error: unknown,
  { name, usage, json, time }: FailedCall,
): { readonly exitCode: 1 | 2; readonly text: string } {
  const exitCode = error instanceof CliError ? error.exitCode : 1;
  const message = messageOf(error);
  const rule = error instanceof CliError ? error.rule : undefined;
  if (json) {
    const line = {
      time: new Date(time).toISOString(),
      level: "error",
      from: name ?? "xdstp",
      event: "failed",
      exitCode,
      message,
      ...(rule !== undefined && { rule }),
      ...(exitCode === 2 && { usage }),
    };
    return { exitCode, text: jsonText(line) };
  }
  const text = `${name === undefined ? "xdstp" : `xdstp ${name}`}: ${error instanceof CliError ? escapeText(withRule(message, rule)) : message}`;
  return {
    exitCode,
    text:
      exitCode === 2
        ? `${text}\n${usageText(usage)}\nSee ${name === undefined ? "xdstp --help" : `xdstp ${name} --help`}`
        : text,
  };
}

function messageOf(error: unknown): string {
  if (error instanceof CliError) return error.message;
  return `this should not happen: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
