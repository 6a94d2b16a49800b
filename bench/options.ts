import { parseArgs } from "node:util";

/** The options of the command line. */
export interface Options {
  readonly json: boolean;
  readonly quick: boolean;
  readonly help: boolean;
  /** Names of cases, or their beginnings; empty: all. */
  readonly cases: readonly string[];
}

/** The help text of the bench. */
export function usage(cases: readonly string[]): string {
  return [
    "pnpm bench [--quick] [--json] [--case NAME]...",
    "",
    "  --quick      each case once and smaller, under 3 minutes together",
    "  --json       the rows as JSON instead of a table",
    `  --case NAME  one case, or all whose names begin so: ${cases.join(", ")}`,
    "",
    "Example: pnpm bench --quick --case fan-out",
  ].join("\n");
}

/** Reads the command line. Throws an error for people where it cannot be read. */
export function parseOptions(args: readonly string[], known: readonly string[]): Options {
  const options = {
    json: { type: "boolean" },
    quick: { type: "boolean" },
    help: { type: "boolean" },
    case: { type: "string", multiple: true },
  } as const;
  // A package manager may pass on the "--" that separates its own options.
  const { values } = parseArgs({ args: args.filter((arg) => arg !== "--"), options, strict: true });
  const cases = values.case ?? [];
  const unknown = cases.find((name) => !known.some((one) => one.startsWith(name)));
  if (unknown !== undefined)
    throw new Error(`there is no case "${unknown}"; the cases are ${known.join(", ")}`);
  return {
    json: values.json ?? false,
    quick: values.quick ?? false,
    help: values.help ?? false,
    cases,
  };
}
