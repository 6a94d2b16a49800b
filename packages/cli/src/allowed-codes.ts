import { type ProblemCode, problemCodes } from "@xdstp/folder";
import { CliError } from "./cli-error.ts";

/** Returns the codes given with `--allow`. Throws a CliError for a code that does not exist, or whose problems cannot be allowed. */
export function allowedCodes(texts: readonly string[]): readonly ProblemCode[] {
  return texts.map((text) => {
    const code = allowable.find((one) => one === text);
    if (code !== undefined) return code;
    throw new CliError(
      2,
      `--allow ${JSON.stringify(text)}: what has this problem cannot be served; the codes that can be allowed are ${allowable.join(", ")}`,
    );
  });
}

const allowable: readonly ProblemCode[] = (Object.keys(problemCodes) as ProblemCode[]).filter(
  (code) => "isAllowable" in problemCodes[code],
);
