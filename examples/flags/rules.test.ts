import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkFolder } from "@xdstp/folder";
import { registryWith } from "@xdstp/protos/envoy";
import { expect, it, onTestFinished } from "vitest";

const registry = registryWith(readFileSync(join(import.meta.dirname, "gen/flags.binpb")));

it.each([
  ['"on": true\npercent: 101\n', "percent must be less than or equal to 100", 2],
  ["percent: 3\n", "a flag that is off has neither percent nor groups", 1],
])("finds that %j breaks a rule of the proto", async (text, message, line) => {
  const dir = mkdtempSync(join(tmpdir(), "xdstp-example-flags-"));
  onTestFinished(() => {
    rmSync(dir, { recursive: true });
  });
  mkdirSync(join(dir, "a/flags.v1.Flag"), { recursive: true });
  writeFileSync(join(dir, "a/flags.v1.Flag/x.yaml"), text);
  const { problems } = await checkFolder({ dir, registry });
  expect(problems).toMatchObject([{ code: "constraint", message, line }]);
});

it("finds nothing in the flags of the example", async () => {
  const { problems, warnings } = await checkFolder({
    dir: join(import.meta.dirname, "config"),
    registry,
  });
  expect([...problems, ...warnings]).toEqual([]);
});
