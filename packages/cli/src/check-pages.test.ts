import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { problemCodes, type ProblemCode } from "@xdstp/folder";
import { describe, expect, it } from "vitest";
import { type ExampleFiles, readCheckPage } from "../test/check-page.ts";
import { writeFakeEnvoy } from "../test/fake-envoy.ts";
import { runToEnd } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

const pages = join(import.meta.dirname, "../../../docs/checks");

/** Codes that only a server or an import reports, so that no call of `validate` shows them. */
const otherCommands: ReadonlySet<string> = new Set(["file-in-writing", "unserved", "not-imported"]);

const codes = Object.keys(problemCodes) as ProblemCode[];

function pageOf(code: string) {
  return readCheckPage(readFileSync(join(pages, `${code}.md`), "utf8"));
}

function writeFiles(dir: string, files: ExampleFiles): void {
  for (const [path, content] of files) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
}

/** The commands that the fix of a page may contain. */
const programs: Readonly<Record<string, (path: string, to: string) => void>> = {
  "mkdir -p": (path) => {
    mkdirSync(path, { recursive: true });
  },
  mv: renameSync,
  "rm -r": (path) => {
    rmSync(path, { recursive: true });
  },
};

function runCommand(command: string, dir: string): void {
  const name = Object.keys(programs).findLast((one) => command.startsWith(`${one} `)) ?? "";
  const [path = "", to = ""] = command.slice(name.length + 1).split(" ");
  programs[name]?.(join(dir, path), join(dir, to));
}

/** The error of Envoy 1.40 for the example of `rejected-by-envoy`. A suite of `real-clients` checks it with Envoy. */
const scriptChecks = `grep -q 'handle) end' "$config" ||
  reject "script load error: [string \\"function envoy_on_request(handle)\\"]:1: 'end' expected near '<eof>'"`;

async function validated(args: readonly string[], dir: string): Promise<string> {
  const at = args.indexOf("envoy");
  const all = at === -1 ? args : args.with(at, writeFakeEnvoy(useFolder().dir, scriptChecks));
  const { out, err } = await runToEnd(["validate", ...all], { cwd: dir });
  return `${out}${err}`.replaceAll(`${dir}/`, "");
}

describe("docs/checks", () => {
  it("has a page for each code, and no other", () => {
    const found = readdirSync(pages).map((file) => file.replace(/\.md$/, ""));
    expect(found.sort()).toEqual([...codes, "README"].sort());
  });

  it("lists each code with its severity and summary", () => {
    const index = readFileSync(join(pages, "README.md"), "utf8");
    const rows = codes.map((code) => {
      const { severity, summary } = problemCodes[code];
      return `| [\`${code}\`](${code}.md) | ${severity} | ${summary} |`;
    });
    expect(index.split("\n").filter((line) => line.startsWith("| [`"))).toEqual(rows);
  });

  it.each(codes)("begins the page of %s with its severity and summary", (code) => {
    const { severity, summary } = problemCodes[code];
    const { title, lead } = pageOf(code);
    expect({ title, lead }).toEqual({
      title: code,
      lead: `**${severity === "error" ? "Error" : "Warning"}.** ${summary}`,
    });
  });

  it.each(codes.filter((code) => !otherCommands.has(code)))(
    "shows an example of %s with its exact message, and a fix without problems",
    async (code) => {
      const { args, output, example, commands, fix } = pageOf(code);
      const { dir } = useFolder();
      writeFiles(dir, example);
      expect(await validated(args, dir)).toBe(output);
      expect(output).toMatch(
        new RegExp(`: ${problemCodes[code].severity}: .* \\[${code}(?: .*)?\\]\n`),
      );
      for (const command of commands) runCommand(command, dir);
      writeFiles(dir, fix);
      expect(await validated(args, dir)).toMatch(/^.*: 0 errors, 0 warnings(?:; .*)?\n$/);
    },
  );
});
