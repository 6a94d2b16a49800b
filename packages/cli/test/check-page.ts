/** The parts of the page of a code, `docs/checks/CODE.md`, that a test runs. */
export interface CheckPage {
  /** The first heading. */
  readonly title: string;
  /** The line below the heading: severity and summary. */
  readonly lead: string;
  /** The arguments of `xdstp validate`. */
  readonly args: readonly string[];
  readonly output: string;
  readonly example: ExampleFiles;
  /** The commands of the fix, which move and write files. */
  readonly commands: readonly string[];
  readonly fix: ExampleFiles;
}

/** The files of an example, by path. */
export type ExampleFiles = ReadonlyMap<string, Uint8Array>;

/**
 * Reads a page. A file of an example is a code block after a line with its path, in hexadecimal if the line says so.
 * A `console` block of the example is a call and its output. A `console` block of the fix has the commands that change the files.
 */
export function readCheckPage(markdown: string): CheckPage {
  const [example = "", fix = ""] = markdown.split("\n## Fix\n");
  const [call = "", ...output] = consoleOf(example).split("\n");
  const [title = "", , lead = ""] = markdown.split("\n");
  return {
    title: title.replace(/^# /, ""),
    lead,
    args: call.replace(/^\$ xdstp validate /, "").split(" "),
    output: output.join("\n"),
    example: filesIn(example),
    commands: [...consoleOf(fix).matchAll(/^\$ (.*)$/gm)].map(([, command = ""]) => command),
    fix: filesIn(fix),
  };
}

function consoleOf(text: string): string {
  return /^```console\n(.*?)^```$/ms.exec(text)?.[1] ?? "";
}

function filesIn(text: string): ExampleFiles {
  const blocks = text.matchAll(/^`([^`]+)`(?: in hexadecimal)?:\n\n```(\w+)\n(.*?)^```$/gms);
  return new Map(
    Array.from(blocks, ([, path = "", language, content = ""]) => [
      path,
      language === "hex" ? Buffer.from(content.replaceAll(/\s/g, ""), "hex") : Buffer.from(content),
    ]),
  );
}
