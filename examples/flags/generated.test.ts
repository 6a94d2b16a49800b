import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

const buf = createRequire(import.meta.url).resolve("@bufbuild/buf/bin/buf");

it("has the code and the descriptors that pnpm generate makes of the proto", () => {
  const out = mkdtempSync(join(tmpdir(), "xdstp-example-flags-"));
  onTestFinished(() => {
    rmSync(out, { recursive: true });
  });
  const run = (...args: readonly string[]): void => {
    execFileSync(process.execPath, [buf, ...args], {
      cwd: import.meta.dirname,
      env: {
        ...process.env,
        PATH: [join(import.meta.dirname, "../../node_modules/.bin"), process.env.PATH ?? ""].join(
          delimiter,
        ),
      },
      stdio: "ignore",
    });
  };
  run("generate", "-o", out);
  run("build", "proto", "--exclude-source-info", "-o", join(out, "gen/flags.binpb"));
  for (const file of ["flags.binpb", "flags/v1/flags_pb.ts", "buf/validate/validate_pb.ts"])
    expect(
      readFileSync(join(out, "gen", file)).equals(
        readFileSync(join(import.meta.dirname, "gen", file)),
      ),
      file,
    ).toBe(true);
});
