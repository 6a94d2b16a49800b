import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it, onTestFinished } from "vitest";
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

  it("writes nothing where a symbolic link leads nowhere, to itself or to a file", async () => {
    const { above, target } = await place({ "file.txt": "mine" });
    symlinkSync("nowhere", target.dir);
    const broken = { kind: "broken-link", path: target.dir, to: "nowhere" };
    for (const dir of [target.dir, join(target.dir, "below")])
      expect(await writeImport(imported, { ...target, dir })).toEqual(broken);
    const bootstrap = join(target.dir, "b.yaml");
    const dir = join(above, "new");
    expect(await writeImport(imported, { ...target, dir, bootstrap })).toEqual(broken);
    const circle = join(above, "circle");
    symlinkSync("circle", circle);
    await expect(writeImport(imported, { ...target, dir: circle })).rejects.toMatchObject({
      code: "ELOOP",
    });
    const toFile = join(above, "to-file");
    symlinkSync("file.txt", toFile);
    expect(await writeImport(imported, { ...target, dir: toFile })).toEqual({
      kind: "not-a-folder",
      path: toFile,
    });
    expect(readdirSync(above).sort()).toEqual(["circle", "config", "file.txt", "to-file"]);
    expect(readFileSync(join(above, "file.txt"), "utf8")).toBe("mine");
  });

  it.skipIf(!existsSync("/dev/shm"))(
    "replaces nothing where a folder below is on another file system",
    async () => {
      const { target } = await place({ "config/_opaque/secrets/s.yaml": "{ }" });
      const other = mkdtempSync("/dev/shm/xdstp-");
      onTestFinished(() => {
        rmSync(other, { recursive: true });
      });
      writeFileSync(join(other, "web.yaml"), "{ }");
      symlinkSync(other, join(target.dir, "_opaque/clusters"));
      await expect(writeImport(imported, { ...target, force: true })).rejects.toMatchObject({
        code: "EXDEV",
        path: join(target.dir, "_opaque/clusters/web.yaml"),
      });
      expect(readdirSync(other)).toEqual(["web.yaml"]);
      expect(readdirSync(target.dir)).toEqual(["_opaque"]);
      expect(readFileSync(join(target.dir, "_opaque/secrets/s.yaml"), "utf8")).toBe("{ }");
      expect(existsSync(target.bootstrap)).toBe(false);
    },
  );

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
      "config/_opaque/clusters/other.yaml": "{ }",
    });
    expect(await writeImport(imported, { ...target, force: true })).toBeUndefined();
    expect(readFileSync(join(target.dir, "_opaque/clusters/web.yaml"), "utf8")).toBe("{}");
    expect(readFileSync(join(target.dir, "_opaque/clusters/other.yaml"), "utf8")).toBe("{ }");
    expect(modeOf(join(target.dir, "_opaque/secrets/s.yaml"))).toBe("600");
    expect(readFileSync(target.bootstrap, "utf8")).toBe("b");
    expect(readdirSync(above).sort()).toEqual(["b.yaml", "config"]);
  });

  it("puts everything back where a file cannot be written", async () => {
    const { target, above } = await place({ "config/_opaque/clusters/web.yaml": "old" });
    // A file stands where a folder has to be.
    writeFileSync(join(target.dir, "_opaque/secrets"), "");
    expect(await writeImport(imported, { ...target, force: true })).toEqual({
      kind: "not-a-folder",
      path: join(target.dir, "_opaque/secrets"),
    });
    expect(readFileSync(join(target.dir, "_opaque/clusters/web.yaml"), "utf8")).toBe("old");
    expect(readdirSync(above)).toEqual(["config"]);
  });

  it("removes a new folder where the bootstrap cannot be written", async () => {
    const { target, above } = await place();
    // The name is longer than any file system allows.
    const bootstrap = join(above, "new/b", "x".repeat(300));
    await expect(writeImport(imported, { ...target, bootstrap })).rejects.toThrow("ENAMETOOLONG");
    expect(readdirSync(above)).toEqual([]);
  });

  it("moves and removes nothing that it did not make, where the folder is the working directory", async () => {
    const { above, target } = await place({ "config/mine.txt": "mine" });
    const { ino } = statSync(target.dir);
    const before = process.cwd();
    process.chdir(target.dir);
    try {
      const none = { ...imported, files: [] };
      expect(await writeImport(none, { ...target, dir: "" })).toEqual({
        kind: "not-empty",
        path: "",
      });
    } finally {
      process.chdir(before);
    }
    expect(statSync(target.dir).ino).toBe(ino);
    expect(readFileSync(join(target.dir, "mine.txt"), "utf8")).toBe("mine");
    expect(readdirSync(above)).toEqual(["config"]);
  });

  it("leaves a folder that another program makes while it writes", async () => {
    const { above, target } = await place();
    const foreign = join(target.dir, "theirs.txt");
    // The registry is read before the folder is placed.
    const registryOfAnother = new Proxy(registry, {
      get(of, key) {
        mkdirSync(target.dir, { recursive: true });
        writeFileSync(foreign, "theirs");
        const value: unknown = Reflect.get(of, key);
        return typeof value === "function" ? (value.bind(of) as unknown) : value;
      },
    });
    await expect(
      writeImport(imported, { ...target, registry: registryOfAnother }),
    ).rejects.toMatchObject({ code: "EEXIST" });
    expect(readdirSync(above)).toEqual(["config"]);
    expect(readFileSync(foreign, "utf8")).toBe("theirs");
  });

  it("writes into a folder that is there, which keeps its mode and its place", async () => {
    const { target } = await place();
    mkdirSync(target.dir);
    chmodSync(target.dir, 0o700);
    const { ino } = statSync(target.dir);
    expect(await writeImport(imported, target)).toBeUndefined();
    expect(modeOf(target.dir)).toBe("700");
    expect(statSync(target.dir).ino).toBe(ino);
    expect(readdirSync(target.dir)).toEqual(["_opaque"]);
  });

  it("checks the files that stay together with the new ones, before it writes", async () => {
    const { target, above } = await place({ "config/_opaque/clusters/w%65b.yaml": "{}" });
    for (const dryRun of [true, false]) {
      expect(await writeImport(imported, { ...target, force: true, dryRun })).toMatchObject({
        kind: "invalid",
        problems: [{ file: expect.stringContaining(target.dir) as string }],
      });
      expect(readdirSync(join(target.dir, "_opaque"))).toEqual(["clusters"]);
      expect(readdirSync(above)).toEqual(["config"]);
    }
  });

  it("checks everything in a dry run, and writes nothing", async () => {
    const full = await place({ "config/x": "" });
    expect(await writeImport(imported, { ...full.target, dryRun: true })).toMatchObject({
      kind: "not-empty",
    });
    const { target, above } = await place();
    const dir = join(target.dir, "below");
    expect(await writeImport(imported, { ...target, dir, dryRun: true })).toBeUndefined();
    expect(readdirSync(above)).toEqual([]);
  });

  it("does not write a bootstrap into the folder, also by way of a link", async () => {
    const { above, target } = await place();
    mkdirSync(target.dir);
    symlinkSync(target.dir, join(above, "link"));
    const bootstrap = join(above, "link/b.yaml");
    expect(await writeImport(imported, { ...target, bootstrap })).toEqual({
      kind: "inside",
      path: bootstrap,
    });
  });

  it("does not replace a folder by a file", async () => {
    const { target } = await place({ "config/_opaque/clusters/web.yaml/mine": "mine" });
    expect(await writeImport(imported, { ...target, force: true })).toEqual({
      kind: "not-a-file",
      path: join(target.dir, "_opaque/clusters/web.yaml"),
    });
  });

  it.each([false, true])("restores everything when it is stopped (force: %s)", async (force) => {
    const old = { "config/_opaque/clusters/web.yaml": "{}", "b.yaml": "old" };
    const { target, above } = await place(force ? old : {});
    const stop = new AbortController();
    const files = [...imported.files];
    // The text of the bootstrap is read when the folder is complete.
    const bootstrap = {
      isSecret: false,
      get text() {
        stop.abort(new Error("stopped"));
        return "b";
      },
    };
    const target2 = { ...target, force, signal: stop.signal };
    await expect(writeImport({ files, bootstrap }, target2)).rejects.toThrow("stopped");
    expect(readdirSync(above).sort()).toEqual(force ? ["b.yaml", "config"] : []);
    if (force) expect(readFileSync(target.bootstrap, "utf8")).toBe("old");
  });

  it("names what an import has left that was killed, and does not count it as content", async () => {
    const { target } = await place({ "config/.xdstp-import-abc123/new/s.yaml": "S3CRET" });
    const found: string[] = [];
    const onLeftover = (path: string) => found.push(path);
    expect(await writeImport(imported, { ...target, onLeftover })).toBeUndefined();
    expect(found).toEqual([join(target.dir, ".xdstp-import-abc123")]);
    expect(existsSync(join(target.dir, ".xdstp-import-abc123"))).toBe(true);
  });
});
