import { readFileSync } from "node:fs";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { formatProblem, readFolder } from "./index.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** The files of the README by path. Each begins with a comment that contains its path. */
const files = Object.fromEntries(
  [...readme.matchAll(/^```\w*\n# config\/(?<path>\S+)\n(?<text>[\s\S]*?)^```$/gm)].map(
    ({ groups }) => [groups?.path ?? "", groups?.text ?? ""],
  ),
);

describe("the files of the README", () => {
  it("can be served together, with resources in each of them", async () => {
    const { dir, write } = await useFolder(files);
    const { cert, key } = createTestAuthority().issue({ name: "gateway" });
    await write({
      "example.com/clusters/web.yaml": "type: EDS",
      "certs/gateway.pem": cert,
      "certs/gateway.key": key,
    });
    const { resources, problems } = await readFolder({ dir, registry: envoyRegistry() });
    expect(problems.map(formatProblem)).toEqual([]);
    const filled = new Set(resources.map(({ file }) => file.slice(dir.length + 1)));
    expect(Object.keys(files).filter((path) => !filled.has(path))).toEqual([]);
  });
});
