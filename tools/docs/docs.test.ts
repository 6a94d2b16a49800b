import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { root } from "../lib/root.ts";
import { deadLinks } from "./dead-links.ts";
import { anchorsOf, deadMarkdownLinks, markdownFiles, replaceLinks } from "./markdown-links.ts";
import { documentsOf, siteTarget } from "./site-pages.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "xdstp-links-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};

describe("deadMarkdownLinks()", () => {
  it("finds nothing in this workspace", () => {
    const files = markdownFiles(root);
    expect(files).toEqual(expect.arrayContaining(["README.md", "packages/cli/README.md"]));
    expect(deadMarkdownLinks(root, files)).toEqual([]);
  });

  it("names files, folders and headings that do not exist, once for each page", () => {
    write(
      "docs/b.md",
      "# One `code` and (two)\n\n```\n# not a heading\n```\n\n# Again\n\n# Again\n",
    );
    write(
      "a.md",
      [
        "# A",
        "[b](docs/b.md#one-code-and-two) [again](docs/b.md#again-1) [folder](docs) [self](#a)",
        "[site](https://host.example/none) `[code](none.md)`",
        "[x](none.md) [y](none.md) [z](docs/b.md#not-a-heading) [w](#b) [`v`](docs/none)",
        "```\n[fenced](none-either.md)\n```",
        "[r]: gone.md",
      ].join("\n\n"),
    );
    expect(deadMarkdownLinks(folder, ["a.md", "docs/b.md"])).toEqual([
      "a.md: none.md leads nowhere",
      "a.md: docs/b.md#not-a-heading leads nowhere",
      "a.md: #b leads nowhere",
      "a.md: docs/none leads nowhere",
      "a.md: gone.md leads nowhere",
    ]);
  });
});

describe("anchorsOf()", () => {
  it("writes the anchor of a heading as GitHub does", () => {
    const anchors = anchorsOf("## `get(name)`, and [more](x.md)\n## A: b - c\n<a id='no'></a>\n");
    expect([...anchors]).toEqual(["getname-and-more", "a-b---c"]);
  });
});

describe("replaceLinks()", () => {
  it("replaces targets outside of code only", () => {
    expect(replaceLinks("[`a`](b) `[c](d)` [e](f)", (target) => `${target}!`)).toBe(
      "[`a`](b!) `[c](d)` [e](f!)",
    );
  });
});

describe("siteTarget()", () => {
  const pages = new Set(["README.md", "packages/cli/README.md", "examples/mesh/README.md"]);
  it.each([
    ["examples/mesh/README.md#start", "examples/mesh/README.md#start"],
    ["examples/mesh", "examples/mesh/README.md"],
    ["packages", "https://host.example/x/tree/main/packages"],
    ["packages/cli/package.json", "https://host.example/x/blob/main/packages/cli/package.json"],
    ["https://other.example/", "https://other.example/"],
    ["#here", "#here"],
  ])("leads from the README of the root by %s to %s", (target, expected) => {
    expect(siteTarget(root, "README.md", target, pages, "https://host.example/x")).toBe(expected);
  });

  it("counts from the folder of the page", () => {
    expect(
      siteTarget(
        root,
        "packages/cli/README.md",
        "../../examples/mesh/",
        pages,
        "https://x.example",
      ),
    ).toBe("../../examples/mesh/README.md");
  });
});

describe("documentsOf()", () => {
  it("leaves out what is the page of a package or of the tools", () => {
    const files = [
      "CONTRIBUTING.md",
      "docs/rules/README.md",
      "packages/cli/README.md",
      "README.md",
    ];
    expect(documentsOf([...files, "tools/README.md"])).toEqual([
      { path: "CONTRIBUTING.md", group: "Project" },
      { path: "docs/rules/README.md", group: "Rules" },
    ]);
  });
});

describe("deadLinks()", () => {
  it("names the links of a site to pages, anchors and raw Markdown that lead nowhere", () => {
    write(
      "index.html",
      '<a href="a/b.html#x">1</a><a href="a/b.html#y">2</a><a href="c.html">3</a>',
    );
    write("a/b.html", '<h1 id="x"></h1><a href="../index.html">4</a><a href="d.md">5</a>');
    write("a/d.md", "");
    expect(deadLinks(folder)).toEqual([
      "a/b.html: d.md leads nowhere",
      "index.html: a/b.html#y leads nowhere",
      "index.html: c.html leads nowhere",
    ]);
  });
});
