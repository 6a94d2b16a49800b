import { join } from "node:path";
import { createCache } from "@xdstp/cache";
import { readConstraints, textOfConstraints, type Entry } from "@xdstp/core";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it, onTestFinished } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { waitFor } from "../test/wait-for.ts";
import { createFolderFeed } from "./folder-feed.ts";
import { readFolder } from "./read-folder.ts";

const clusters = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const registry = envoyRegistry();

/** Returns a file with a variant of a name. */
function variant(constraints: string, timeout = 1, name = "n"): string {
  return `resource_name: {name: ${name}, dynamic_parameter_constraints: ${constraints}}\nresource: {"@type": ${clusters}, connect_timeout: ${timeout}s}\n`;
}

const prod = "{constraint: {key: env, value: prod}}";
const test = "{constraint: {key: env, value: test}}";
const rest =
  "{not_constraints: {or_constraints: {constraints: [{constraint: {key: env, value: prod}}, {constraint: {key: env, value: test}}]}}}";

function show(entries: readonly Entry[]): readonly string[] {
  return entries.map(({ name, resource, constraints }) => {
    const read = readConstraints(resource?.constraints ?? constraints ?? new Uint8Array());
    return `${resource === undefined ? "-" : ""}${name} ${"constraints" in read ? textOfConstraints(read.constraints) : read.fault}`;
  });
}

async function problemsOf(
  files: Readonly<Record<string, string>>,
): Promise<{ readonly dir: string; readonly problems: readonly object[] }> {
  const { dir } = await useFolder(files);
  return { dir, problems: (await readFolder({ dir, registry })).problems };
}

describe("variants in a folder", () => {
  it("are files that hold one name with different constraints, and each client has its own [B-DYN-3] [S-DYN-2]", async () => {
    const { dir } = await useFolder({
      "_opaque/clusters/n-prod.yaml": variant(prod),
      "_opaque/clusters/others.yaml": `${variant(test)}---\n${variant(rest)}`,
    });
    const { resources, problems } = await readFolder({ dir, registry });
    expect([resources.map(({ resource }) => resource.name), problems]).toEqual([
      ["n", "n", "n"],
      [],
    ]);
  });

  it("come and go one by one, and one takes the place of another in one change [S-DYN-5]", async () => {
    const { dir, write, move } = await useFolder({
      "_opaque/clusters/a.yaml": variant(prod),
      "_opaque/clusters/b.yaml": variant(test),
    });
    const cache = createCache();
    onTestFinished(() => cache.close());
    cache.addFeed(createFolderFeed({ dir, registry }));
    const topics = ["prod", "test"].map((env) =>
      cache.topic(clusters, {
        name: "n",
        parameters: new Map([
          ["env", env],
          ["version", "v1"],
        ]),
      }),
    );
    for (const topic of topics) topic.watch({ wake: () => undefined });
    const [first, second] = topics;
    await waitFor(() => cache.ready);
    expect(topics.map((topic) => show(topic.members()))).toEqual([["n env=prod"], ["n env=test"]]);
    const { revision } = cache;
    await write({ "_opaque/clusters/a.yaml": variant(prod, 2) });
    await waitFor(() => cache.revision > revision);
    expect([show(first?.changes(revision) ?? []), second?.changes(revision)]).toEqual([
      ["n env=prod"],
      [],
    ]);
    const before = cache.revision;
    await move("_opaque/clusters/a.yaml", "a.gone");
    await write({
      "_opaque/clusters/b.yaml": variant(
        "{and_constraints: {constraints: [{constraint: {key: env, value: test}}]}}",
      ),
    });
    await waitFor(() => show(second?.members() ?? [])[0] === "n and(env=test)");
    expect(topics.map((topic) => show(topic.changes(before) ?? []))).toEqual([
      ["-n env=prod"],
      ["-n env=test", "n and(env=test)"],
    ]);
  });

  it("are an error with equal constraints, as two files with one name are [N-40]", async () => {
    const { dir, problems } = await problemsOf({
      "_opaque/clusters/a.yaml": variant(prod),
      "_opaque/clusters/b.yaml": variant(prod),
    });
    expect(problems).toEqual([
      {
        file: join(dir, "_opaque/clusters/b.yaml"),
        code: "duplicate-name",
        message: `the name "n" with the constraints env=prod stands here and in ${join(dir, "_opaque/clusters/a.yaml")}`,
        rule: "N-40",
        hint: "keep one of them",
      },
    ]);
  });

  it.each([
    [
      "overlap",
      variant("{constraint: {key: env, exists: {}}}"),
      `the variants env exists and env=prod both match {"env":"prod"}`,
      "let them exclude each other",
    ],
    [
      "constrain other keys",
      variant("{constraint: {key: version, value: v1}}"),
      "the variants version=v1 and env=prod constrain different keys",
      'let both mention "version", "env", for instance whether it exists',
    ],
    [
      "have no constraints",
      "name: n\nresource: {}\n",
      "the variants without constraints and env=prod constrain different keys",
      'let both mention "env", for instance whether it exists',
    ],
  ])("are an error, with both files, where two %s [S-DYN-4]", async (_, other, conflict, hint) => {
    const { dir, problems } = await problemsOf({
      "_opaque/clusters/a.yaml": variant(prod),
      "_opaque/clusters/b.yaml": other,
    });
    expect(problems).toEqual([
      {
        file: join(dir, "_opaque/clusters/b.yaml"),
        code: "overlapping-variants",
        message: `the name "n" stands here and in ${join(dir, "_opaque/clusters/a.yaml")}, but ${conflict}`,
        rule: "S-DYN-4",
        hint,
      },
    ]);
  });

  it("may belong to names of other types and to other names without a conflict", async () => {
    const { problems } = await problemsOf({
      "_opaque/clusters/a.yaml": variant(prod),
      "_opaque/clusters/b.yaml": variant("{constraint: {key: version, value: v1}}", 1, "m"),
      "_opaque/endpoints/n.yaml": "{}",
    });
    expect(problems).toEqual([]);
  });

  it("are told with their line where the constraints say nothing of a key [B-DYN-3]", async () => {
    const { dir, problems } = await problemsOf({
      "_opaque/clusters/a.yaml": variant("{constraint: {key: env}}"),
    });
    expect(problems).toEqual([
      {
        file: join(dir, "_opaque/clusters/a.yaml"),
        line: 1,
        column: expect.any(Number) as number,
        code: "bad-constraints",
        rule: "B-DYN-3",
        message:
          'it is not clear which clients these constraints are for: the one on "env" says neither a value nor that the key exists',
        hint: "give each key a value, or exists: {}",
      },
    ]);
  });
});
