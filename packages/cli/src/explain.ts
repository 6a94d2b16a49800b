import { readFileSync } from "node:fs";
import { problemCodes } from "@xdstp/folder";
import { CliError } from "./cli-error.ts";
import { closest } from "./command-line.ts";

/** The directory with the pages of the codes: `checks` next to this file in a published package, `docs/checks` in the repository. */
const pages = new URL(
  import.meta.url.endsWith(".ts") ? "../../../docs/checks/" : "./checks/",
  import.meta.url,
);

/** Returns the page of a code of `xdstp validate`. Throws a CliError for a code that does not exist. */
export function explainCode(code: string): string {
  const codes = Object.keys(problemCodes);
  if (!codes.includes(code)) {
    const meant = closest(code, codes);
    const wayOut =
      meant === undefined ? `the codes are ${codes.join(" ")}` : `did you mean ${meant}?`;
    throw new CliError(2, `the code ${JSON.stringify(code)} does not exist; ${wayOut}`);
  }
  return readFileSync(new URL(`${code}.md`, pages), "utf8");
}
