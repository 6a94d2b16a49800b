import { type Status, StatusCode, XdsError } from "@xdstp/core";

/** Options of a {@link CliError}. */
interface CliErrorOptions extends ErrorOptions {
  /** The id of the broken rule. Default: the rule of `cause`, if that is an XdsError. */
  readonly rule?: string;
}

/** The reason why a command failed: one line for people, and the exit code. */
export class CliError extends Error {
  override readonly name: string = "CliError";
  /** 1: the command failed. 2: it was called with wrong arguments, and the usage is shown too. */
  readonly exitCode: 1 | 2;
  /** The id of the broken rule, which is not part of the text. `undefined`: no rule is known. */
  readonly rule: string | undefined;

  constructor(exitCode: 1 | 2, message: string, options: CliErrorOptions = {}) {
    super(message, options);
    this.exitCode = exitCode;
    const { cause, rule } = options;
    this.rule = rule ?? (cause instanceof XdsError ? cause.context.rule : undefined);
  }
}

/** Converts an XdsError to a CliError with exit code 1. Returns any other error unchanged. */
export function asCliError(error: unknown): unknown {
  return error instanceof XdsError ? new CliError(1, error.text, { cause: error }) : error;
}

/** Returns the error for a file that cannot be read. `what`: the option and the file, as they were typed. */
export function unreadable(cause: unknown, what: string, wayOut: string): CliError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const why = readTroubles[code ?? ""] ?? `it cannot be read (${code ?? message})`;
  return new CliError(1, `${what}: ${why}; ${wayOut}`, { cause });
}

const readTroubles: Readonly<Record<string, string>> = {
  ENOENT: "the file does not exist",
  ENOTDIR: "the file does not exist, because its path has a file where a folder has to be",
  EISDIR: "it is a folder, not a file",
  EACCES: "this user may not read it (EACCES)",
};

/** Converts an error of the client to a CliError that names the options of the command. If no server is available, its text is `failures`: why each stream ended. */
export function askFailure(error: unknown, failures: readonly string[]): CliError {
  if (error instanceof CliError) return error;
  if (!(error instanceof XdsError)) throw error;
  if (error.code === "UNAVAILABLE" && failures.length > 0)
    return new CliError(1, failures.join("; "), { cause: error });
  return new CliError(1, inCommandWords(withoutNode(error.text)), { cause: error });
}

/** The variant that a server is used with. */
export interface Spoken {
  readonly variant: "delta" | "sotw";
  /** The bootstrap file that sets the variant. Absent: an option sets it. */
  readonly by?: string;
}

/** Describes why a stream has ended, and what to do. */
export function streamFailure(
  server: string,
  { code, message }: Status,
  { variant, by }: Spoken,
): string {
  const name =
    Object.entries(StatusCode).find(([, number]) => number === code)?.[0] ?? `code ${code}`;
  if (ownFailure.test(message)) return inCommandWords(message);
  if (code === StatusCode.UNIMPLEMENTED)
    return `${server} does not serve the ${variant} variant (${message === "" ? name : message}); ${by === undefined ? `try --${variant === "delta" ? "sotw" : "delta"}` : `its api_type in ${by} says so`}`;
  return `${server} has ended the stream: ${message === "" ? name : `${message} [${name}]`}`;
}

/** Errors of the channel, not of the server: connections that fail, and unusable files or targets. */
const ownFailure =
  /^(cannot connect to|lost the connection to|(ca_|)certificate_file|private_key_file|the target|tls\.\w+) /;

/** Replaces the names of client options by those of command options. */
function inCommandWords(text: string): string {
  return text
    .replace(/more than \d+ redirects$/, "$&; --max-hops allows more")
    .replace("give it as tls.ca", "give it with --tls-ca")
    .replace(", or set tls.servername", ", and connect by one that it is for")
    .replace("connect without tls,", "connect without --tls,")
    .replace(/want TLS\?$/, "$& See --tls")
    .replace("give one as tls.cert and tls.key", "give one with --tls-cert and --tls-key")
    .replace(/want (a|another) certificate[^?]*\?$/, "$& See --tls-cert");
}

/** Removes the node id from the end of an error text. */
export function withoutNode(text: string): string {
  return text.replace(/ \(node "(?:[^"\\]|\\.)*"\)$/, "");
}

/** Returns the text of an error for people, followed by the id of the broken rule: `text [C-REDIR-4]`. `npm run rules` and docs/rules show the rule. */
export function errorText(error: XdsError | undefined): string {
  return error === undefined ? "" : withRule(withoutNode(error.text), error.context.rule);
}

/** Returns a text followed by the id of a rule in brackets, like the problems of a folder. */
export function withRule(text: string, rule: string | undefined): string {
  return rule === undefined ? text : `${text} [${rule}]`;
}
