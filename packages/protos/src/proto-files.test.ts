import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../../..");
const buf = createRequire(join(root, "package.json")).resolve("@bufbuild/buf/bin/buf");

describe("the files in proto/xdstp", () => {
  it.each([
    ["obey the linter", [buf, "lint"]],
    ["are formatted", [buf, "format", "--diff", "--exit-code"]],
    ["break nothing that was released", [buf, "breaking", "--against", "proto/released.binpb.gz"]],
    ["give the generated code that is committed", ["tools/generate.mjs", "--check"]],
  ])("%s", async (_, args) => {
    expect(await run(args)).toEqual({ code: 0, output: "" });
  });
});

/** How the command ends; its own output is the reason where it fails. */
function run(
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk) => (output += String(chunk)));
    child.stderr.on("data", (chunk) => (output += String(chunk)));
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ code, output });
    });
  });
}
