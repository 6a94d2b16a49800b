import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../lib/root.ts";
import { type WorkspacePackage, readWorkspace } from "../lib/workspace.ts";
import { withoutChangeset } from "./check-changesets.ts";
import { checkDocumented, undocumentedIn } from "./check-documented.ts";
import { layerProblems } from "./check-layers.ts";
import { hostsIn, withoutIntegrity } from "./check-lockfile.ts";

const pkg = (name: string, ...dependencies: readonly string[]): WorkspacePackage => ({
  name,
  dependencies,
  folder: "",
  isPublic: true,
  scripts: [],
  entries: [],
});

describe("the workspace", () => {
  it("has no package that typecheck or lint would pass over", () => {
    expect(
      readWorkspace(root)
        .filter(({ scripts }) => !scripts.includes("typecheck") || !scripts.includes("lint"))
        .map(({ name }) => name),
    ).toEqual([]);
  });
});

describe("tsconfig.check.json", () => {
  const { include } = JSON.parse(readFileSync(join(root, "tsconfig.check.json"), "utf8")) as {
    readonly include: readonly string[];
  };

  it("has all TypeScript of the workspace but that of tools, which has a configuration of its own", () => {
    const all = globSync("{packages,examples,bench}/**/*.ts", {
      cwd: root,
      exclude: (path) => /(^|\/)(node_modules|dist)$/.test(path),
    });
    const checked = new Set(
      include.flatMap((pattern) =>
        globSync(pattern.endsWith(".ts") ? pattern : `${pattern}/**/*.ts`, { cwd: root }),
      ),
    );
    expect(all.length).toBeGreaterThan(1_000);
    expect(all.filter((file) => !checked.has(file))).toEqual([]);
  });
});

describe("layerProblems()", () => {
  it("finds nothing in this workspace", () => {
    expect(layerProblems(readWorkspace(root))).toEqual([]);
  });

  it.each([
    [
      "an arrow upwards",
      pkg("@xdstp/core", "@xdstp/cache"),
      "@xdstp/core must not depend on @xdstp/cache",
    ],
    [
      "an arrow to a sibling",
      pkg("@xdstp/transport-delta", "@xdstp/transport-sotw"),
      "@xdstp/transport-delta must not depend on @xdstp/transport-sotw",
    ],
    [
      "an implementation behind a contract",
      pkg("@xdstp/server", "@xdstp/cache"),
      "@xdstp/server must not depend on @xdstp/cache",
    ],
    [
      "a package without a layer",
      pkg("@xdstp/new"),
      "@xdstp/new has no layer: give it one in tools/gates/check-layers.ts and in docs/ARCHITECTURE.md",
    ],
  ])("names %s", (_, candidate, problem) => {
    expect(layerProblems([candidate])).toEqual([problem]);
  });
});

describe("hostsIn()", () => {
  it("finds addresses and tarballs, and nothing in a lockfile of hashes", () => {
    const clean = "packages:\n\n  a@1.0.0:\n    resolution: {integrity: sha512-abc}\n";
    expect(hostsIn(clean)).toEqual([]);
    expect(
      hostsIn(`${clean}\n  b@1.0.0:\n    resolution: {tarball: https://host.example/b.tgz}\n`),
    ).toEqual(["resolution: {tarball: https://host.example/b.tgz}"]);
  });
});

describe("undocumentedIn()", () => {
  it("gives the declarations without a doc comment, and none for this workspace", () => {
    const report =
      "export interface A {\n    // (undocumented)\n    readonly name: string;\n    readonly size: number;\n}\n\n// @public (undocumented)\nexport type B = string;\n";
    expect(undocumentedIn(report)).toEqual(["readonly name: string;", "export type B = string;"]);
    expect(checkDocumented(root)).toBe(true);
  });
});

describe("withoutIntegrity()", () => {
  it("names the packages whose resolution is not a hash", () => {
    expect(
      withoutIntegrity(
        "  a@1.0.0:\n    resolution: {integrity: sha512-abc}\n\n  b@1.0.0:\n    resolution: {commit: abc}\n",
      ),
    ).toEqual(["b@1.0.0"]);
  });
});

describe("withoutChangeset()", () => {
  const packages = ["a", "b"].map((name): WorkspacePackage => ({
    ...pkg(`@xdstp/${name}`),
    folder: `/checkout/packages/${name}`,
  }));
  const missing = (
    changed: readonly string[],
    ...changesets: readonly string[]
  ): readonly string[] => withoutChangeset("/checkout", packages, changed, changesets);

  it("names a package whose source changed and that no changeset names", () => {
    expect(missing(["packages/a/src/x.ts", "packages/b/package.json"])).toEqual([
      "@xdstp/a",
      "@xdstp/b",
    ]);
    expect(
      missing(
        ["packages/a/src/x.ts", "packages/b/package.json"],
        '---\n"@xdstp/a": minor\n---\n\nIt does more.',
      ),
    ).toEqual(["@xdstp/b"]);
  });

  it("finds a package without a scope too", () => {
    const packages = [{ ...pkg("xdstp"), folder: "/checkout/packages/xdstp" }];
    const changed = ["packages/xdstp/src/x.ts"];
    const named = (...texts: readonly string[]): readonly string[] =>
      withoutChangeset("/checkout", packages, changed, texts);
    expect([named(), named('---\n"xdstp": minor\n---\n')]).toEqual([["xdstp"], []]);
  });

  it("asks for none after a change of tests, documents or other packages", () => {
    expect(
      missing([
        "packages/a/src/x.test.ts",
        "packages/a/README.md",
        "packages/ab/src/x.ts",
        "package.json",
      ]),
    ).toEqual([]);
  });
});
