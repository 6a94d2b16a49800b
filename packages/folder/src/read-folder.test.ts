import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { formatProblem } from "./folder-problem.ts";
import { type FolderContent, readFolder } from "./read-folder.ts";

const read = (dir: string): Promise<FolderContent> =>
  readFolder({ dir, registry: envoyRegistry() });
const prefix = "xdstp://a/envoy.config.cluster.v3.Cluster/";
const names = ({ resources }: FolderContent): readonly string[] =>
  resources.map(({ resource }) => resource.name);

describe("readFolder()", () => {
  it("reads all files but the hidden and temporary ones, in the order of their paths", async () => {
    const { dir } = await useFolder({
      "a/clusters/b.yaml": "{}",
      "a/clusters/a.yml": "{}",
      "a/clusters/ns/c.json": "{}",
      "a/clusters/d.txtpb": "type: EDS",
      "_opaque/clusters/e.YAML": "{}",
      "a/clusters/.hidden.yaml": "{",
      "a/clusters/x.yaml~": "{",
      "a/clusters/.x.yaml.swp": "{",
      "a/.git/x.yaml": "{",
      "a/clusters/#y.yaml#": "{",
      "README.md": "read me",
    });
    const content = await read(dir);
    expect(content).toMatchObject({ files: 5, problems: [], warnings: [] });
    expect(names(content)).toEqual([
      "e",
      `${prefix}a`,
      `${prefix}b`,
      `${prefix}d`,
      `${prefix}ns/c`,
    ]);
    expect(content.resources[0]?.file).toBe(join(dir, "_opaque/clusters/e.YAML"));
  });
  it("reads files whose names differ in case as different names, and reports one name with two file extensions as a problem [N-40]", async () => {
    const { dir, write } = await useFolder({
      "a/clusters/web.yaml": "{}",
      "a/clusters/Web.yaml": "{}",
      "A/clusters/web.yaml": "{}",
    });
    expect([...names(await read(dir))].sort()).toEqual([
      "xdstp://A/envoy.config.cluster.v3.Cluster/web",
      `${prefix}Web`,
      `${prefix}web`,
    ]);
    await write({ "a/clusters/web.YAML": "{}", "a/Clusters/x.yaml": "{}" });
    const { problems } = await read(dir);
    expect(problems).toMatchObject([
      {
        file: join(dir, "a/Clusters"),
        message: 'the folder "Clusters" is not a known type',
        hint: "did you mean clusters?",
      },
      {
        file: join(dir, "a/clusters/web.yaml"),
        message: `the name "${prefix}web" stands here and in ${join(dir, "a/clusters/web.YAML")}`,
      },
    ]);
  });
  it("warns of a file beside the resources that is not read", async () => {
    const { dir } = await useFolder({ "a/clusters/x.ymal": "{}", "a/clusters/x.yaml": "{}" });
    expect(await read(dir)).toMatchObject({
      problems: [],
      warnings: [{ file: join(dir, "a/clusters/x.ymal") }],
    });
  });
  it("warns of references to authorities that are not served, with place and field, and only of these [S-AUTH-10]", async () => {
    const far = "xdstp://far.example/envoy.config.cluster.v3.Cluster/c";
    const routes = (...clusters: readonly string[]): string =>
      `virtual_hosts:\n- name: h\n  domains: ["*"]\n  routes:\n${clusters.map((cluster) => `  - match: { prefix: / }\n    route: { cluster: "${cluster}" }\n`).join("")}`;
    const { dir } = await useFolder({
      "a/routes/r.yaml": routes(`${prefix}mine`, "opaque", far, far),
      "b/routes/other.json": JSON.stringify({
        virtual_hosts: [
          {
            name: "h",
            domains: ["*"],
            routes: [{ match: { prefix: "/" }, route: { cluster: `${prefix}x` } }],
          },
        ],
      }),
      "_opaque/clusters/agg.txtpb": `cluster_type { name: "agg" typed_config { [type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig] { clusters: "${far}" } } }`,
    });
    const { problems, warnings } = await read(dir);
    expect(problems).toEqual([]);
    const message = (field: string): string =>
      `${field}refers to clusters "${far}", but authority "far.example" is not served here`;
    expect(warnings).toMatchObject([
      {
        file: join(dir, "_opaque/clusters/agg.txtpb"),
        message: expect.stringContaining(message("")) as string,
        rule: "S-AUTH-10",
      },
      {
        file: join(dir, "a/routes/r.yaml"),
        line: 10,
        column: 23,
        message: message("virtual_hosts[0].routes[2].route.cluster: "),
        rule: "S-AUTH-10",
        hint: expect.stringContaining("use an opaque name") as string,
      },
    ]);
    expect(
      (await readFolder({ dir, registry: envoyRegistry(), authorities: ["a", "b", "far.example"] }))
        .warnings,
    ).toEqual([]);
    expect(
      (await readFolder({ dir, registry: envoyRegistry(), authorities: ["b"] })).warnings,
    ).toMatchObject([
      {},
      {},
      {
        file: join(dir, "b/routes/other.json"),
        line: 1,
        message: expect.stringMatching(
          /^virtual_hosts\[0\]\.routes\[0\]\.route\.cluster: refers/,
        ) as string,
      },
    ]);
  });
  it("names file and place of what nests too deeply: 10,000 brackets, lines and aliases", async () => {
    const brackets = "[".repeat(10_000) + "]".repeat(10_000);
    const { dir } = await useFolder({
      "a/clusters/1.json": `{\n  "metadata": ${brackets}\n}`,
      "a/clusters/2.yaml": `name: x\nmetadata: ${brackets}\n`,
      "a/clusters/3.yaml": Array.from(
        { length: 10_000 },
        (_, level) => `${" ".repeat(level % 200)}a:`,
      ).join("\n"),
      "a/clusters/4.yaml": [
        "a0: &a0 {}",
        ...Array.from(
          { length: 10_000 },
          (_, level) => `a${level + 1}: &a${level + 1} [*a${level}]`,
        ),
      ].join("\n"),
      "a/clusters/5.txtpb": `metadata { filter_metadata { key: "a" value { ${'fields { key: "a" value { struct_value { '.repeat(10_000)}${"} } } ".repeat(10_000)} } } }`,
    });
    const { problems } = await read(dir);
    expect(
      problems.map(
        ({ file, line, message }) =>
          `${file.slice(dir.length + 12)}:${line ?? ""} ${message.replace(/^.* in text format: /, "")}`,
      ),
    ).toEqual([
      "1.json:2 is nested more than 100 levels deep",
      "2.yaml:2 is nested more than 100 levels deep",
      "3.yaml:101 is nested more than 100 levels deep",
      expect.stringMatching(/^4\.yaml:\d+ is nested more than 100 levels deep$/) as string,
      "5.txtpb: recursion limit of 100 reached decoding a map entry",
    ]);
  });
  it("rejects a Struct that encodes to more levels than clients decode, and reads one that does not", async () => {
    const nested = (levels: number): string =>
      `{ "type": "EDS", "metadata": { "filter_metadata": { "m": ${'{ "k": '.repeat(levels)}1${" }".repeat(levels)} } } }`;
    const { dir } = await useFolder({
      "a/clusters/deep.json": nested(66),
      "a/clusters/flat.json": nested(31),
    });
    const { problems } = await read(dir);
    expect(problems.map(({ file, message }) => [file.slice(dir.length + 12), message])).toEqual([
      [
        "deep.json",
        expect.stringMatching(
          /^is nested too deeply: clients cannot decode it \(.* 100 /,
        ) as string,
      ],
    ]);
  });

  it.runIf(process.platform === "linux")(
    "rejects files and folders whose names are not UTF-8, and leaves others in peace (on Linux; elsewhere there are no such names) [N-06]",
    async () => {
      const { dir } = await useFolder({ "a/clusters/x.yaml": "{}" });
      const path = (name: string): Buffer => Buffer.from(join(dir, name), "latin1");
      for (const name of [
        "a/clusters/caf\xe9.json",
        "a/clusters/caf\xe9.txt",
        "a/clusters/.caf\xe9.json",
      ])
        await writeFile(path(name), "{}");
      for (const name of ["caf\xe9", "a/.caf\xe9"]) await mkdir(path(name));
      const { problems, resources } = await read(dir);
      expect(problems.map(formatProblem)).toEqual(
        ["a/clusters/caf\uFFFD.json", "caf\uFFFD"].map(
          (name) =>
            `${join(dir, name)}: the file name "${basename(name)}" is not UTF-8 (rename it; escape the bytes of UTF-8 as %HH: é is %C3%A9) [N-06]`,
        ),
      );
      expect(resources).toHaveLength(1);
    },
  );
  it("finds no problem in an empty folder, and says what is expected in it", async () => {
    const { dir } = await useFolder();
    const hint =
      "a resource is a file AUTHORITY/TYPE/ID.yaml or _opaque/TYPE/NAME.yaml, for instance _opaque/clusters/web.yaml; the extensions that are read are .yaml .yml .json .txtpb .pb_text .pb";
    expect(await read(dir)).toEqual({
      resources: [],
      problems: [],
      warnings: [{ file: dir, code: "no-resources", message: "holds no resource", hint }],
      files: 0,
    });
  });
  it("names the files that are not read in a folder without resources", async () => {
    const { dir } = await useFolder({
      "README.md": "",
      "clusters.toml": "",
      ".hidden": "",
      "x.yaml.bak": "",
      "a/x": "",
      "a/b": "",
      "a/c": "",
      "a/d": "",
    });
    const { warnings } = await read(dir);
    expect(warnings).toMatchObject([
      {
        file: dir,
        message: 'holds no resource; not read: "README.md", "a/b", "a/c", "a/d", "a/x", and 2 more',
      },
    ]);
  });
  it("says that a folder does not exist, by its name", async () => {
    const { dir } = await useFolder();
    const { problems } = await read(join(dir, "nothing"));
    expect(problems).toMatchObject([
      { file: join(dir, "nothing"), message: expect.stringContaining("ENOENT") as string },
    ]);
  });
  it("names both files of two resources with one name [N-40]", async () => {
    const { dir } = await useFolder({
      "a/clusters/ns/x.yaml": "{}",
      "a/clusters/ns%2Fx.json": "{}",
    });
    const { problems } = await read(dir);
    expect(problems).toHaveLength(1);
    expect(
      formatProblem(problems[0] ?? { file: "", code: "duplicate-name", message: "" }),
    ).toContain(`${prefix}ns/x`);
    expect([problems[0]?.file, problems[0]?.message].join(" ")).toMatch(
      /ns%2Fx\.json.*ns\/x\.yaml|ns\/x\.yaml.*ns%2Fx\.json/,
    );
  });
  it("takes two spellings of the type's folder for one folder [N-40]", async () => {
    const { dir } = await useFolder({
      "a/clusters/x.yaml": "{}",
      "a/envoy.config.cluster.v3.Cluster/x.yaml": "{}",
    });
    expect((await read(dir)).problems).toHaveLength(1);
  });
  it("takes one name in two types or authorities for two names [N-40]", async () => {
    const { dir } = await useFolder({
      "a/clusters/x.yaml": "{}",
      "b/clusters/x.yaml": "{}",
      "a/endpoints/x.yaml": "{}",
      "_opaque/clusters/x.yaml": "{}",
      "_opaque/endpoints/x.yaml": "{}",
    });
    expect(await read(dir)).toMatchObject({ problems: [], files: 5 });
  });
  it("rejects an alias that is the name of another resource", async () => {
    const { dir } = await useFolder({
      "_opaque/clusters/x.yaml": "aliases: [y]\nresource: {}",
      "_opaque/clusters/y.yaml": "{}",
    });
    expect((await read(dir)).problems).toMatchObject([
      { message: expect.stringContaining("name or alias") as string },
    ]);
  });
  it("says a type that is not known once, however many files are below it", async () => {
    const { dir } = await useFolder({ "a/nothing/x.yaml": "{}", "a/nothing/y.yaml": "{}" });
    expect((await read(dir)).problems).toMatchObject([{ file: join(dir, "a/nothing") }]);
  });
  it("follows links to files and folders", async () => {
    const { dir, write, link } = await useFolder();
    await write({ "../outside/x.yaml": "{}", "../outside/folder/y.yaml": "{}" });
    await link("a/clusters/linked.yaml", "../../../outside/x.yaml");
    await link("a/clusters/ns", "../../../outside/folder");
    expect(names(await read(dir))).toEqual([`${prefix}linked`, `${prefix}ns/y`]);
  });
  it("rejects a link to a folder that it lies in, and ends", async () => {
    const { dir, link } = await useFolder({ "a/clusters/x.yaml": "{}" });
    await link("a/clusters/up", "../..");
    expect(await read(dir)).toMatchObject({
      files: 1,
      problems: [
        {
          file: join(dir, "a/clusters/up"),
          message: expect.stringContaining("it lies in") as string,
        },
      ],
    });
  });
  it("rejects links between two folders into each other, and ends", async () => {
    const { dir, link } = await useFolder({ "a/clusters/x.yaml": "{}", "b/clusters/y.yaml": "{}" });
    await link("a/clusters/b", "../../b/clusters");
    await link("b/clusters/a", "../../a/clusters");
    expect((await read(dir)).problems).toHaveLength(2);
  });
  it("rejects a link to itself and a link to nothing", async () => {
    const { dir, link } = await useFolder();
    await link("a/clusters/self.yaml", "self.yaml");
    await link("a/clusters/nothing.yaml", "nowhere");
    expect((await read(dir)).problems).toMatchObject([
      { message: expect.stringContaining("to nothing") as string },
      { message: expect.stringContaining("ELOOP") as string },
    ]);
  });
  it("rejects a pipe without waiting for a writer", async () => {
    const { dir } = await useFolder({ "a/clusters/x.yaml": "{}" });
    execFileSync("mkfifo", [join(dir, "a/clusters/pipe.yaml")]);
    expect(await read(dir)).toMatchObject({ problems: [{ message: "is not a regular file" }] });
  });
  it("rejects a file that is too large without reading it", async () => {
    const { dir } = await useFolder({ "a/clusters/x.yaml": "{}" });
    execFileSync("truncate", ["-s", "70M", join(dir, "a/clusters/x.yaml")]);
    expect(await read(dir)).toMatchObject({
      problems: [{ message: expect.stringContaining("64 MiB") as string }],
    });
  });
  it("gives the problems of all files at once, by file and line", async () => {
    const { dir } = await useFolder({
      "a/clusters/b.yaml": "x: 1",
      "a/clusters/a.yaml": "name: u\n---\nname: v",
      "a/clusters/c.yaml": "{}",
    });
    const { problems, resources } = await read(dir);
    expect(problems.map(({ file, line }) => `${file.slice(dir.length + 1)}:${line ?? ""}`)).toEqual(
      ["a/clusters/a.yaml:1", "a/clusters/a.yaml:3", "a/clusters/b.yaml:1"],
    );
    expect(resources).toHaveLength(1);
  });
});

describe("formatProblem()", () => {
  it("writes what is known", () => {
    expect(
      formatProblem({
        file: "f",
        line: 1,
        column: 2,
        code: "bad-name",
        message: "m",
        rule: "N-50",
        hint: "h",
      }),
    ).toBe("f:1:2: m (h) [N-50]");
    expect(formatProblem({ file: "f", code: "syntax", message: "m" })).toBe("f: m");
  });
  it("lets no control character through to a terminal", () => {
    expect(formatProblem({ file: "a\u001b[2J", code: "syntax", message: "two\nlines" })).toBe(
      "a\\u{1b}[2J: two\\u{a}lines",
    );
  });
});
