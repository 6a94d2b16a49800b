/** What is wrong with a file or a folder, for people. */
export interface FolderProblem {
  /** The file or folder, as the folder was given, for instance `config/example.com/clusters/web.yaml`. */
  readonly file: string;
  /** Counted from 1; present where the format has lines: YAML and JSON. */
  readonly line?: number;
  /** Counted from 1, in characters. */
  readonly column?: number;
  /** What the input is and what is wrong with it; one line. */
  readonly message: string;
  /** The rule it breaks, for instance `N-50`, where there is one. */
  readonly rule?: string;
  /** The way out, where the message does not say it. */
  readonly hint?: string;
}

/** One problem as one line of text: `file:line:column: message (hint) [rule]`. Parts that are not known are left out, control characters are shown as `\\u{1b}`. */
export function formatProblem(problem: FolderProblem): string {
  const { file, line, column, message, rule, hint } = problem;
  const place = [file, line, line === undefined ? undefined : column]
    .filter((part) => part !== undefined)
    .join(":");
  const text = `${place}: ${message}${hint === undefined ? "" : ` (${hint})`}${rule === undefined ? "" : ` [${rule}]`}`;
  return text.replaceAll(
    /\p{Cc}/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
