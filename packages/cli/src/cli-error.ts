/** Why a command did not do its work: one line for people, and the exit code. */
export class CliError extends Error {
  override readonly name: string = "CliError";
  /** 1: it failed. 2: it was called the wrong way; the usage is shown with it. */
  readonly exitCode: 1 | 2;

  constructor(exitCode: 1 | 2, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
