import { parseArgs } from "node:util";

/** The options of `npm run rules`. */
export interface RulesOptions {
  readonly help: boolean;
  readonly json: boolean;
  readonly problems: boolean;
  /** Only rules whose ids begin so. Empty: all. */
  readonly prefix: string;
}

/** The usage text of `npm run rules`. */
export const usage: string = [
  "npm run rules -- [PREFIX] [--json] [--problems]",
  "",
  "  PREFIX      only rules whose ids begin so, such as S-ACK",
  "  --json      the rules as JSON instead of a table",
  "  --problems  only the sums and what is wrong",
  "",
  "Example: npm run rules -- S-ACK",
].join("\n");

/** Reads the command line. Throws an error for people where it cannot be read. */
export function parseOptions(args: readonly string[]): RulesOptions {
  const options = {
    help: { type: "boolean" },
    json: { type: "boolean" },
    problems: { type: "boolean" },
  } as const;
  // A package manager may pass on the "--" that separates its own options.
  const {
    values: { help = false, json = false, problems = false },
    positionals,
  } = parseArgs({
    args: args.filter((arg) => arg !== "--"),
    options,
    allowPositionals: true,
    strict: true,
  });
  const [prefix = "", second] = positionals;
  if (second !== undefined) throw new Error(`"${second}" is one PREFIX too many; give one`);
  return { help, json, problems, prefix };
}
