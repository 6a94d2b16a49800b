import { join } from "node:path";
import { createCache, createNodeCaches } from "@xdstp/cache";
import { type ResourceSource, XdsError } from "@xdstp/core";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { cluster } from "@xdstp/resource-types";
import { createSeededRandom, type SeededRandom } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { useFeed } from "../test/use-feed.ts";
import { useFolder } from "../test/use-folder.ts";
import { createResourceCheck } from "./check-resource.ts";
import { createFolderCommitter } from "./folder-committer.ts";
import { folderContext } from "./folder-context.ts";
import { createFolderReader } from "./folder-reader.ts";

const useCache = (reject: (name: string) => boolean = () => false) => {
  const cache = createCache({
    types: [
      {
        ...cluster,
        validate: ({ name }) =>
          reject(name) ? new XdsError("INVALID_ARGUMENT", `no ${name} today`) : undefined,
      },
    ],
  });
  onTestFinished(() => cache.close());
  return cache;
};

/** Returns the connect timeout of each cluster in seconds, by name. */
function timeoutsIn(source: ResourceSource): Readonly<Record<string, number>> {
  const members = source.topic(cluster.typeUrl, { name: "*" }).members();
  return Object.fromEntries(
    members.map(({ name, resource }) => [name, resource?.payload.value.at(-1) ?? 0]),
  );
}

/** Returns a cluster whose last byte is its connect timeout in seconds. 0 violates a constraint. */
const clusterOf = (name: string, seconds: number): string =>
  `name: ${name}\nconnect_timeout: ${seconds}s\n`;

describe("createFolderFeed() with partial", () => {
  it("applies what is good, keeps what a broken file held, and says what is broken until it is fixed", async () => {
    const { dir, write, remove } = await useFolder({
      "_opaque/clusters/a.yaml": clusterOf("a", 1),
      "_opaque/clusters/many.yaml": `${clusterOf("b", 1)}---\n${clusterOf("c", 1)}`,
    });
    const cache = useCache();
    const { next } = useFeed({ dir, sink: cache, partial: true });
    expect(await next("loaded")).toMatchObject({ problems: [], resources: 3, older: 0 });
    await write({
      "_opaque/clusters/a.yaml": clusterOf("a", 2),
      "_opaque/clusters/many.yaml": `${clusterOf("b", 0)}---\n${clusterOf("d", 2)}`,
    });
    expect(await next("loaded")).toMatchObject({
      put: 2,
      removed: 0,
      resources: 4,
      older: 2,
      problems: [
        {
          file: join(dir, "_opaque/clusters/many.yaml"),
          line: 2,
          message: "connect_timeout must be more than 0s",
        },
      ],
    });
    expect(timeoutsIn(cache)).toEqual({ a: 2, b: 1, c: 1, d: 2 });
    const staleness = () => cache.topic(cluster.typeUrl, { name: "new" }).stale?.text;
    expect(staleness()).toContain("connect_timeout must be more than 0s");
    await write({ "_opaque/clusters/many.yaml": `${clusterOf("b", 3)}---\n${clusterOf("d", 2)}` });
    expect(await next("loaded")).toMatchObject({
      put: 2,
      removed: 1,
      resources: 3,
      older: 0,
      problems: [],
    });
    expect(timeoutsIn(cache)).toEqual({ a: 2, b: 3, d: 2 });
    expect(staleness()).toBeUndefined();
    await remove("_opaque/clusters/many.yaml");
    await next("loaded");
    expect(timeoutsIn(cache)).toEqual({ a: 2 });
  });

  it("serves nothing where nothing is good, and begins with the first good resource", async () => {
    const { dir, write } = await useFolder({ "_opaque/clusters/a.yaml": "bogus: 1\n" });
    const cache = useCache();
    const { next } = useFeed({ dir, sink: cache, partial: true });
    expect(await next("rejected")).toMatchObject({ serving: false });
    expect(cache.ready).toBe(false);
    await write({ "_opaque/clusters/b.yaml": clusterOf("b", 1) });
    expect(await next("loaded")).toMatchObject({
      put: 1,
      resources: 1,
      older: 0,
      problems: [{ line: 1 }],
    });
    expect([cache.ready, timeoutsIn(cache)]).toEqual([true, { b: 1 }]);
  });

  it("begins with nothing while a file of a node key is broken: the shared resource is not what these nodes had", async () => {
    const { dir, write } = await useFolder({
      "_opaque/clusters/a.yaml": clusterOf("a", 1),
      "_nodes/edge/_opaque/clusters/a.yaml": clusterOf("a", 0),
    });
    const nodes = createNodeCaches({ keyOf: ({ cluster: key }) => key });
    onTestFinished(() => nodes.close());
    const { next } = useFeed({ dir, sink: nodes.shared, nodes, partial: true });
    expect(await next("rejected")).toMatchObject({ serving: false });
    await write({ "_nodes/edge/_opaque/clusters/a.yaml": clusterOf("a", 2) });
    await next("loaded");
    await write({ "_nodes/edge/_opaque/clusters/a.yaml": clusterOf("a", 0) });
    expect(await next("loaded")).toMatchObject({ resources: 2, older: 1, problems: [{ line: 2 }] });
    expect(timeoutsIn(nodes.of("edge"))).toEqual({ a: 2 });
  });

  it("tries what the cache rejects with each batch, and applies the rest", async () => {
    const { dir, write } = await useFolder({
      "_opaque/clusters/a.yaml": clusterOf("a", 1),
      "_opaque/clusters/b.yaml": clusterOf("b", 1),
    });
    const rejected = new Set(["b"]);
    const cache = useCache((name) => rejected.has(name));
    const { next } = useFeed({ dir, sink: cache, partial: true });
    const problem = { file: join(dir, "_opaque/clusters/b.yaml"), message: "no b today" };
    expect(await next("loaded")).toMatchObject({ problems: [problem] });
    await write({ "_opaque/clusters/a.yaml": clusterOf("a", 2) });
    expect(await next("loaded")).toMatchObject({ problems: [problem] });
    expect(timeoutsIn(cache)).toEqual({ a: 2 });
    rejected.clear();
    await write({ "_opaque/clusters/a.yaml": clusterOf("a", 3) });
    expect(await next("loaded")).toMatchObject({ put: 2, problems: [] });
    expect(timeoutsIn(cache)).toEqual({ a: 3, b: 1 });
  });

  it("counts what is served, and what of it is older than the folder", async () => {
    const { write, dir, remove } = await useFolder({
      "_opaque/clusters/a.yaml": clusterOf("a", 1),
      "_opaque/clusters/b.yaml": clusterOf("b", 1),
      "_opaque/clusters/c.yaml": clusterOf("c", 0),
    });
    const rejected = new Set<string>();
    const { next } = useFeed({ dir, sink: useCache((name) => rejected.has(name)), partial: true });
    expect(await next("loaded")).toMatchObject({ resources: 2, older: 0 });
    rejected.add("a");
    await write({ "_opaque/clusters/a.yaml": clusterOf("a", 2) });
    expect(await next("loaded")).toMatchObject({ resources: 2, older: 1 });
    await write({ "_opaque/clusters/b.yaml": "a: [" });
    expect(await next("loaded")).toMatchObject({ resources: 2, older: 2 });
    await write({ "_opaque/clusters/b.yaml": clusterOf("b", 1) });
    expect(await next("loaded")).toMatchObject({ resources: 2, older: 1 });
    await write({ "_opaque/clusters/twice.yaml": clusterOf("b", 2) });
    expect(await next("loaded")).toMatchObject({ resources: 2, older: 1 });
    await remove("_opaque/clusters/a.yaml");
    expect(await next("loaded")).toMatchObject({ resources: 1, older: 0 });
  });

  it("gives the cache that the rule says, whatever is written", async () => {
    for (let seed = 1; seed <= 20; seed++) await runAtRandom(seed);
  });
});

const names = ["a", "b", "c", "d", "e", "f"] as const;

/** The content of a file: its resources, or the reason why it has none. */
type Content =
  "unreadable" | "absent" | readonly { readonly name: string; readonly seconds: number }[];

/** Reads a folder of three files after each of 15 random edits, and compares the cache with the model. */
async function runAtRandom(seed: number): Promise<void> {
  const random = createSeededRandom(seed);
  const { dir, write, remove } = await useFolder({ "_opaque/clusters/first.yaml": "{}" });
  const base = folderContext({ dir, registry: envoyRegistry() });
  const context = { ...base, check: await createResourceCheck(base) };
  const reader = createFolderReader(context);
  const cache = useCache();
  const edit = async (path: string, content: Content): Promise<void> => {
    await write({ [path]: "" });
    if (content === "absent") await remove(path);
    else if (content === "unreadable") await write({ [path]: "a: [\n" });
    else
      await write({
        [path]: content.map(({ name, seconds }) => clusterOf(name, seconds)).join("---\n"),
      });
  };
  const feed = cache.addFeed({
    async run(sink) {
      const committer = createFolderCommitter({
        context,
        sink,
        nodes: undefined,
        allowMassDelete: true,
        isPartial: true,
        onEvent: () => undefined,
      });
      await committer.take({ state: await reader.read() });
      const model = createModel();
      for (let step = 0; step < 15; step++) {
        const file = random.pick(["x", "y", "z"]);
        const content = contentAtRandom(random);
        await edit(`_opaque/clusters/${file}.yaml`, content);
        await committer.take({ state: await reader.read() });
        expect(timeoutsIn(cache), `seed ${seed}, step ${step}`).toEqual({
          first: "first".charCodeAt(4),
          ...model(file, content),
        });
      }
    },
  });
  const failure = await feed.ended;
  reader.close();
  if (failure !== undefined) throw failure;
}

function contentAtRandom(random: SeededRandom): Content {
  const kind = random.below(7);
  if (kind === 0) return "unreadable";
  if (kind === 1) return "absent";
  return Array.from({ length: 2 + random.below(2) }, () => ({
    name: random.pick(names),
    seconds: random.below(4),
  }));
}

/** Creates a model of the rules for each name. A single valid resource is applied. An invalid resource, or several resources, leave the cached one unchanged. If no file has the name, the cached resource is removed, unless its file has a problem. */
function createModel() {
  const files = new Map<string, Content>();
  const held = new Map<string, { readonly seconds: number; readonly file: string }>();
  return (changed: string, content: Content): Readonly<Record<string, number>> => {
    files.set(changed, content);
    const found = [...files]
      .toSorted()
      .flatMap(([file, one]) =>
        typeof one === "string" ? [] : one.map((document) => ({ file, ...document })),
      );
    const clashing = new Set(
      found
        .filter((one, at) => found.findIndex(({ name }) => name === one.name) !== at)
        .map(({ file }) => file),
    );
    const hasProblem = (file: string): boolean => {
      const one = files.get(file) ?? "absent";
      if (typeof one === "string") return one === "unreadable";
      return one.some(({ seconds }) => seconds === 0) || clashing.has(file);
    };
    for (const name of names) {
      const [only, ...others] = found.filter((one) => one.name === name);
      const before = held.get(name);
      if (only === undefined && before !== undefined && !hasProblem(before.file)) held.delete(name);
      if (only === undefined || others.length > 0) continue;
      if (only.seconds > 0) held.set(name, only);
      else if (before !== undefined) held.set(name, { ...before, file: only.file });
    }
    return Object.fromEntries(Array.from(held, ([name, { seconds }]) => [name, seconds]));
  };
}
