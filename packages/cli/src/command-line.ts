import { parseArgs, type ParseArgsConfig } from "node:util";
import { CliError } from "./cli-error.ts";
import type { Command, CommandCall, CommandOption } from "./command.ts";
import { helpWidth, wrapWords } from "./fit-text.ts";

/** Reads the arguments after the name of a command. Throws a CliError for an unknown option, an option without its value, and one that is given twice and takes a single value. */
export function parseCall(command: Command, args: readonly string[]): CommandCall {
  const { values, positionals } = parse(command, args);
  const texts = (name: string): readonly string[] =>
    [values[name]].flat().filter((value) => typeof value === "string");
  const empty = Object.keys(values).find((name) => texts(name).includes(""));
  if (empty !== undefined)
    throw new CliError(
      2,
      `--${empty} is empty; give ${command.options[empty]?.value ?? "a value"}`,
    );
  const twice = Object.keys(values).find(
    (name) => command.options[name]?.multiple !== true && texts(name).length > 1,
  );
  if (twice !== undefined)
    throw new CliError(
      2,
      `--${twice} is given ${texts(twice).length} times (${texts(twice).join(", ")}); give it once`,
    );
  return {
    positionals,
    texts,
    text: (name) => texts(name).at(-1),
    flag: (name) => values[name] === true,
  };
}

function parse(
  command: Command,
  args: readonly string[],
): Pick<ReturnType<typeof parseArgs>, "values" | "positionals"> {
  try {
    return parseArgs({ args: [...args], options: configOf(command), allowPositionals: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Node adds a hint on positional arguments to the text, which does not apply here.
    const unknown = /^Unknown option '--([\w-]+)'/.exec(error.message)?.[1];
    const meant =
      unknown === undefined ? undefined : closest(unknown, Object.keys(command.options));
    const hint = meant === undefined ? "" : `; did you mean --${meant}?`;
    throw new CliError(
      2,
      `${error.message.replace(/\. To specify .*/s, "").replaceAll("\n", " ")}${hint}`,
      { cause: error },
    );
  }
}

function configOf({ options }: Command): NonNullable<ParseArgsConfig["options"]> {
  // Without `multiple`, `parseArgs` silently uses the last of several values, and a repeated option could not be reported.
  return Object.fromEntries(
    Object.entries(options).map(
      ([name, { value, multiple = false }]) =>
        [
          name,
          {
            type: value === undefined ? "boolean" : "string",
            multiple: multiple || value !== undefined,
          },
        ] as const,
    ),
  );
}

/** Returns the candidate that is closest to a mistyped word, or `undefined` if none is close. At most a third of its letters may differ. */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.floor(word.length / 3) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= least) continue;
    const distance = distanceOf(word, candidate);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** The Levenshtein distance: the number of letters to insert, delete or replace. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Returns the help text of one command. */
export function commandHelp(command: Command): string {
  const options = Object.entries(command.options).map(
    ([name, option]) => [signature(name, option), option.help] as const,
  );
  return [
    `${command.summary}\n`,
    `${usageText(command.usage)}\n`,
    ...command.notes.map((note) => `${wrapWords(note, helpWidth, "")}\n`),
    "Options:",
    ...columns([...options, ["--help", "show this text"]]),
    `\nExample:\n  ${command.example}\n`,
  ].join("\n");
}

/** Returns the help text of `xdstp` itself. */
export function overallHelp(commands: readonly Command[]): string {
  return [
    "xdstp: serve configuration to Envoy and gRPC programs over xDS.\n",
    "Usage: xdstp COMMAND [ARGS]\n",
    "Commands:",
    ...columns(commands.map(({ name, summary }) => [name, summary] as const)),
    "\nOptions:",
    ...columns([
      ["--help", "show this text, or behind a command its own"],
      ["--version", "show the version"],
    ]),
    `\nExample:\n  ${commands[0]?.example ?? ""}\n`,
  ].join("\n");
}

function signature(name: string, { value, multiple }: CommandOption): string {
  return `--${name}${value === undefined ? "" : ` ${value}`}${multiple === true ? " ..." : ""}`;
}

function columns(rows: readonly (readonly [left: string, right: string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) =>
    wrapWords(`  ${left.padEnd(width)}  ${right}`, helpWidth, " ".repeat(width + 4)),
  );
}

/** Returns `Usage: ...` in lines of at most {@link helpWidth} characters. An option stays on one line with its value, and so does the text in one pair of brackets. */
export function usageText(usage: string): string {
  const kept = usage
    .replaceAll(/(--[\w-]+) (?=[A-Z])/g, "$1\u00a0")
    .replaceAll(/\[[^[\]]*\]/g, (group) => group.replaceAll(" ", "\u00a0"));
  return wrapWords(`Usage: ${kept}`, helpWidth, " ".repeat("Usage: ".length)).replaceAll(
    "\u00a0",
    " ",
  );
}
