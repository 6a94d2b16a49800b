import type { Command, CommandOption } from "./command.ts";
import { helpWidth, wrapWords } from "./fit-text.ts";

/** The help of one command. */
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

/** The help of `xdstp` itself. */
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

/** `Usage: ...` in lines that fit a terminal: an option stays with its value, and so does the text in one pair of brackets. */
export function usageText(usage: string): string {
  const kept = usage
    .replaceAll(/(--[\w-]+) (?=[A-Z])/g, "$1\u00a0")
    .replaceAll(/\[[^[\]]*\]/g, (group) => group.replaceAll(" ", "\u00a0"));
  return wrapWords(`Usage: ${kept}`, helpWidth, " ".repeat("Usage: ".length)).replaceAll(
    "\u00a0",
    " ",
  );
}
