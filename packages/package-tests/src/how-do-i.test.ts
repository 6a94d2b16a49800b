import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "@xdstp/tools/root";
import { describe, expect, it } from "vitest";
import { run } from "./run.ts";

const page = readFileSync(join(root, "docs/HOW-DO-I.md"), "utf8");
const commands = new Map<string, Set<string>>();
for (const [, name = "", rest = ""] of page.matchAll(/^xdstp ([a-z-]+)(?= )(.*)$/gm)) {
  const options = commands.get(name) ?? new Set();
  commands.set(name, options);
  for (const [option] of rest.matchAll(/--[a-z-]+/g)) options.add(option);
}

describe("the page of short answers", () => {
  it("shows every command", () => {
    expect([...commands.keys()].sort()).toEqual(
      [
        "bootstrap",
        "explain",
        "export",
        "get",
        "import",
        "lsp",
        "plan",
        "record",
        "relay",
        "replay",
        "resolve",
        "route-check",
        "schema",
        "serve",
        "status",
        "validate",
        "watch",
      ].sort(),
    );
  });

  it.each([...commands])("gives xdstp %s only options that it has", async (name, options) => {
    const help = await run(
      "node",
      ["--conditions=@xdstp/source", join(root, "packages/cli/src/bin.ts"), name, "--help"],
      root,
    );
    const known = new Set([...help.matchAll(/--[a-z-]+/g)].map(([option]) => option));
    expect([...options].filter((option) => !known.has(option))).toEqual([]);
  });
});
