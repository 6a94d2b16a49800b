import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { useFolder } from "../../test/use-folder.ts";
import type { ImportedFile } from "./imported.ts";
import { writeImport } from "./write-import.ts";

const registry = envoyRegistry();
const file = (path: string, text: string, isSecret = false): ImportedFile => ({
  path,
  typeUrl: "",
  name: path,
  text,
  isSecret,
});
const imported = {
  files: [file("_opaque/clusters/web.yaml", "{}"), file("_opaque/secrets/s.yaml", "{}", true)],
  bootstrap: { text: "b", isSecret: false },
};

async function place(files: Readonly<Record<string, string>> = {}) {
  const { dir: above } = await useFolder(files);
  const dir = join(above, "config");
  const bootstrap = join(above, "b.yaml");
  return { above, target: { dir, bootstrap, force: false, registry } };
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe("writeImport()", () => {
  it.each(["new", "empty", "linked"])(
    "writes into a %s folder, secrets for the owner only",
    async (kind) => {
      const { above, target } = await place();
      if (kind === "empty") mkdirSync(target.dir);
      if (kind === "linked") {
        mkdirSync(join(above, "elsewhere"));
        symlinkSync(join(above, "elsewhere"), target.dir);
      }
      expect(await writeImport(imported, target)).toBeUndefined();
      expect(readFileSync(join(target.dir, "_opaque/clusters/web.yaml"), "utf8")).toBe("{}");
      expect(modeOf(join(target.dir, "_opaque/secrets/s.yaml"))).toBe("600");
      expect(modeOf(target.dir)).toBe("755");
      expect(readFileSync(target.bootstrap, "utf8")).toBe("b");
      expect(readdirSync(above).filter((name) => name.startsWith("."))).toEqual([]);
    },
  );

  it("writes nothing where something is in the way", async () => {
    const { target } = await place({ "config/x": "" });
    expect(await writeImport(imported, target)).toEqual({ kind: "not-empty", path: target.dir });
    expect(readdirSync(target.dir)).toEqual(["x"]);
    const other = await place({ "b.yaml": "mine" });
    expect(await writeImport(imported, other.target)).toEqual({
      kind: "exists",
      path: other.target.bootstrap,
    });
    expect(readdirSync(other.above)).toEqual(["b.yaml"]);
  });

  it("writes nothing that could not be served", async () => {
    const { target, above } = await place();
    const files = [file("_opaque/clusters/web.yaml", "lb_polcy: 1")];
    expect(await writeImport({ ...imported, files }, target)).toMatchObject({
      kind: "invalid",
      problems: [{ file: join(target.dir, "_opaque/clusters/web.yaml"), line: 1 }],
    });
    expect(readdirSync(above)).toEqual([]);
  });

  it("adds and replaces files with force, and leaves the others", async () => {
    const { target, above } = await place({
      "b.yaml": "old",
      "config/_opaque/clusters/web.yaml": "old",
      "config/_opaque/clusters/other.yaml": "other",
    });
    expect(await writeImport(imported, { ...target, force: true })).toBeUndefined();
    expect(readFileSync(join(target.dir, "_opaque/clusters/web.yaml"), "utf8")).toBe("{}");
    expect(readFileSync(join(target.dir, "_opaque/clusters/other.yaml"), "utf8")).toBe("other");
    expect(modeOf(join(target.dir, "_opaque/secrets/s.yaml"))).toBe("600");
    expect(readFileSync(target.bootstrap, "utf8")).toBe("b");
    expect(readdirSync(above).sort()).toEqual(["b.yaml", "config"]);
  });

  it("puts everything back where a file cannot be written", async () => {
    const { target, above } = await place({ "config/_opaque/clusters/web.yaml": "old" });
    // A file stands where a folder has to be.
    writeFileSync(join(target.dir, "_opaque/secrets"), "");
    await expect(writeImport(imported, { ...target, force: true })).rejects.toThrow(
      /EEXIST|ENOTDIR/,
    );
    expect(readFileSync(join(target.dir, "_opaque/clusters/web.yaml"), "utf8")).toBe("old");
    expect(readdirSync(above)).toEqual(["config"]);
  });

  it("takes a new folder away where the bootstrap cannot be written", async () => {
    const { target, above } = await place();
    mkdirSync(target.bootstrap);
    mkdirSync(join(target.bootstrap, "x"));
    await expect(writeImport(imported, { ...target, force: true })).rejects.toThrow();
    expect(readdirSync(above)).toEqual(["b.yaml"]);
  });
});
