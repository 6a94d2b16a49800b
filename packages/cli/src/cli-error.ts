import { type Status, StatusCode, XdsError } from "@xdstp/core";

/** Options of a {@link CliError}. */
interface CliErrorOptions extends ErrorOptions {
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

/** An error of a library as one of the command; others stay as they are. */
export function asCliError(error: unknown): unknown {
  return error instanceof XdsError ? new CliError(1, error.text, { cause: error }) : error;
}

/** Why a file cannot be read. `what`: the option and the file, as they were typed. */
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

/** An error of the client in the words of the command. Where no server can be had, `failures` say why. */
export function askFailure(error: unknown, failures: readonly string[]): CliError {
  if (error instanceof CliError) return error;
  if (!(error instanceof XdsError)) throw error;
  if (error.code === "UNAVAILABLE" && failures.length > 0)
    return new CliError(1, failures.join("; "), { cause: error });
  return new CliError(1, inCommandWords(withoutNode(error.text)), { cause: error });
}

/** How a server is spoken to. */
export interface Spoken {
  readonly variant: "delta" | "sotw";
  /** The file that says so. Absent: an option does. */
  readonly by?: string;
}

/** Why a stream has ended, and the way out. */
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

/** Reported by the channel, not by the server: no connection, or unusable files and targets. */
const ownFailure =
  /^(cannot connect to|lost the connection to|(ca_|)certificate_file|private_key_file|the target|tls\.\w+) /;

/** The client speaks of its options, people know those of the command. */
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

/** People know who they are. */
export function withoutNode(text: string): string {
  return text.replace(/ \(node "(?:[^"\\]|\\.)*"\)$/, "");
}

/** The text of an error for people, followed by the id of the broken rule: `text [C-REDIR-4]`. `npm run rules` and docs/rules show the rule. */
export function errorText(error: XdsError | undefined): string {
  return error === undefined ? "" : withRule(withoutNode(error.text), error.context.rule);
}

/** A text followed by the id of a rule, as for problems of a folder. */
export function withRule(text: string, rule: string | undefined): string {
  return rule === undefined ? text : `${text} [${rule}]`;
}
