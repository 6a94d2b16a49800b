import { parseArgs } from "node:util";

/** The options of `npm run mutate`. */
export interface MutateOptions {
  readonly help: boolean;
  readonly packages: readonly string[];
  /** Only files with one of these in their path. */
  readonly files: readonly string[];
  /** The share of the lines, above 0 and at most 1. */
  readonly share: number;
  readonly seed: string;
  /** At most so long per package. */
  readonly minutes: number;
  /** Mutants at a time. */
  readonly concurrency: number;
}

/** Returns the usage text of `npm run mutate`. */
export function usage(known: readonly string[]): string {
  return [
    "npm run mutate -- [--package NAME]... [--file TEXT]... [--sample SHARE] [--seed TEXT] [--minutes N] [--concurrency N]",
    "",
    `  --package NAME   one of ${known.join(", ")}; default: all`,
    "  --file TEXT      only files with this in their path",
    "  --sample SHARE   share of the lines, above 0 and at most 1; default: 0.25",
    "  --seed TEXT      chooses the files; default: the day",
    "  --minutes N      at most so long per package; default: 15",
    "  --concurrency N  mutants at a time; default: 2",
    "",
    "Example: npm run mutate -- --package cache --file topic --sample 1",
  ].join("\n");
}

/** Reads the command line. Throws an error for people where it cannot be read. */
export function parseOptions(
  args: readonly string[],
  known: readonly string[],
  today: Date = new Date(),
): MutateOptions {
  const text = { type: "string" } as const;
  const texts = { type: "string", multiple: true } as const;
  const options = {
    help: { type: "boolean" },
    package: texts,
    file: texts,
    sample: text,
    seed: text,
    minutes: text,
    concurrency: text,
  } as const;
  // A package manager may pass on the "--" that separates its own options.
  const { values } = parseArgs({ args: args.filter((arg) => arg !== "--"), options, strict: true });
  const packages = values.package ?? known;
  const unknown = packages.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new Error(
      `there is no package "${unknown}" to be mutated; the packages are ${known.join(", ")}`,
    );
  return {
    help: values.help ?? false,
    packages,
    files: values.file ?? [""],
    share: numberOf(
      "sample",
      values.sample ?? "0.25",
      (value) => value > 0 && value <= 1,
      "a share above 0 and at most 1",
    ),
    seed: values.seed ?? today.toISOString().slice(0, 10),
    minutes: numberOf("minutes", values.minutes ?? "15", (value) => value > 0, "a number above 0"),
    concurrency: numberOf(
      "concurrency",
      values.concurrency ?? "2",
      (value) => Number.isInteger(value) && value > 0,
      "a whole number above 0",
    ),
  };
}

function numberOf(
  name: string,
  text: string,
  fits: (value: number) => boolean,
  what: string,
): number {
  const value = Number(text);
  if (!fits(value)) throw new Error(`--${name} is ${JSON.stringify(text)}; give ${what}`);
  return value;
}
