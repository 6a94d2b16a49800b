import { XdsError } from "@xdstp/core";

/** Options of a {@link CliError}. */
export interface CliErrorOptions extends ErrorOptions {
  /** The id of the broken rule. Default: that of an XdsError that is the cause. */
  readonly rule?: string;
}

/** Why a command did not do its work: one line for people, and the exit code. */
export class CliError extends Error {
  override readonly name: string = "CliError";
  /** 1: it failed. 2: it was called the wrong way; the usage is shown with it. */
  readonly exitCode: 1 | 2;
  /** The id of the rule that something breaks, which is not part of the text: that of the cause, if it has one. */
  readonly rule: string | undefined;

  constructor(exitCode: 1 | 2, message: string, options: CliErrorOptions = {}) {
    super(message, options);
    this.exitCode = exitCode;
    const { cause, rule } = options;
    this.rule = rule ?? (cause instanceof XdsError ? cause.context.rule : undefined);
  }
}
