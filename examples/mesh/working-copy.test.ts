import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readFolder } from "@xdstp/folder";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it, onTestFinished } from "vitest";
import { createWorkingCopy } from "./working-copy.ts";

const source = join(import.meta.dirname, "config");

describe("createWorkingCopy()", () => {
  it("copies all files and replaces the ports it is told, leaving the source alone", async () => {
    const before = readFileSync(join(source, "mesh.example/endpoints/blue.yaml"), "utf8");
    const copy = await createWorkingCopy(
      source,
      join(tmpdir(), "xdstp-copy-"),
      new Map([[50051, 7]]),
    );
    onTestFinished(() => copy.remove());
    const file = join(copy.dir, "mesh.example/endpoints/blue.yaml");
    expect(readFileSync(file, "utf8")).toBe(before.replace("50051", "7"));
    expect(
      readFileSync(join(copy.dir, "mesh.example/listeners/envoy/edge.yaml"), "utf8"),
    ).toContain("port_value: 10000");
    expect(readFileSync(join(source, "mesh.example/endpoints/blue.yaml"), "utf8")).toBe(before);
    await copy.remove();
    expect(existsSync(copy.dir)).toBe(false);
  });
});

describe("config", () => {
  it("can be served as it stands: seven resources, no problem, no warning", async () => {
    const { resources, problems, warnings } = await readFolder({
      dir: source,
      registry: envoyRegistry(),
    });
    expect([resources.length, problems, warnings]).toEqual([7, [], []]);
  });
});
