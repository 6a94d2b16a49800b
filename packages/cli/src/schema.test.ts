import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runToEnd } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

async function ran(...args: readonly string[]) {
  const { dir } = useFolder({ "a-file": "" });
  return { dir, ...(await runToEnd(["schema", ...args], { cwd: dir })) };
}

function titleOf(text: string): unknown {
  return (JSON.parse(text) as { readonly title?: string }).title;
}

describe("xdstp schema", () => {
  it.each([
    [[], "envoy.config.bootstrap.v3.Bootstrap"],
    [["--root", "clusters"], "envoy.config.cluster.v3.Cluster"],
    [["--root", "envoy.config.core.v3.Node"], "envoy.config.core.v3.Node"],
  ])("prints the schema of %j", async (args, title) => {
    const { code, out, err } = await ran(...args);
    expect([code, err]).toEqual([0, ""]);
    expect(titleOf(out)).toBe(title);
  });

  it("leaves descriptions out on request", async () => {
    const [described, bare] = [
      await ran("--root", "clusters"),
      await ran("--root", "clusters", "--no-comments"),
    ];
    expect(described.out).toContain('"description":"The timeout for new network connections');
    expect(bare.out).not.toContain('"description":"');
    expect(bare.out.length).toBeLessThan(described.out.length / 2);
  });

  it("writes a file, in directories that it makes", async () => {
    const { dir, code, out } = await ran("--out", "a/b/envoy.schema.json");
    expect([code, out]).toEqual([0, ""]);
    expect(titleOf(readFileSync(join(dir, "a/b/envoy.schema.json"), "utf8"))).toBe(
      "envoy.config.bootstrap.v3.Bootstrap",
    );
  });

  it("writes the schemas of a folder, and settings that name them all", async () => {
    const { dir, code, out } = await ran(
      "--root",
      "folder",
      "--out",
      "schemas/",
      "--folder",
      "./mesh",
    );
    expect(code).toBe(0);
    expect(out).toMatch(/^\d+ schemas in schemas\/; add what is in schemas\/settings\.json/);
    const settings = JSON.parse(readFileSync(join(dir, "schemas/settings.json"), "utf8")) as {
      readonly "yaml.schemas": Readonly<Record<string, readonly string[]>>;
      readonly "json.schemas": readonly { readonly url: string }[];
    };
    const urls = Object.keys(settings["yaml.schemas"]);
    expect(urls.every((url) => existsSync(join(dir, url)))).toBe(true);
    expect(settings["json.schemas"].map(({ url }) => url)).toEqual(urls);
    expect(urls.length + 2).toBe(readdirSync(join(dir, "schemas")).length);
    expect(settings["yaml.schemas"]["./schemas/clusters.json"]).toContain(
      "mesh/*/clusters/**/*.yaml",
    );
  });

  it.each([
    [["--root", "folder"], 2, "--root folder is several schemas; give --out DIR"],
    [["--folder", "x"], 2, "--folder is for --root folder"],
    [["--root", "cluster"], 1, '--root "cluster" is not a known message; did you mean clusters?'],
    [["--root", "acme.v1.Thing"], 1, "for a type of your own, add --descriptors FILE"],
    [["--out", "a-file/x"], 1, "it cannot be written (E"],
    [["config"], 2, '"config" is one argument too many; --root says what the schema is for'],
  ])("says what is wrong with %j", async (args, exitCode, problem) => {
    const { code, out, err } = await ran(...args);
    expect([code, out]).toEqual([exitCode, ""]);
    expect(err).toContain(problem);
  });
});
