import { rename } from "node:fs/promises";
import { join } from "node:path";
import { createCache, createNodeCaches } from "@xdstp/cache";
import { type ResourceSource, XdsError } from "@xdstp/core";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRecordingSink } from "../test/create-recording-sink.ts";
import { useFeed } from "../test/use-feed.ts";
import { useFolder } from "../test/use-folder.ts";
import { waitFor } from "../test/wait-for.ts";
import { createFolderFeed } from "./folder-feed.ts";
import type { WatchDirectory } from "./folder-watch.ts";

const clusters = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const endpoints = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const prefix = "xdstp://a/envoy.config.cluster.v3.Cluster/";
const enospc = Object.assign(
  new Error("ENOSPC: System limit for number of file watchers reached"),
  { code: "ENOSPC" },
);

const useCache = () => {
  const cache = createCache();
  onTestFinished(() => cache.close());
  return cache;
};
const namesOf = (source: ResourceSource, typeUrl: string): readonly string[] =>
  source
    .topic(typeUrl, { name: "*" })
    .members()
    .map(({ name }) => name)
    .sort();

describe("createFolderFeed() with resources without references", () => {
  const eds = (name: string): string =>
    `name: ${name}\ntype: EDS\neds_cluster_config: { eds_config: { ads: {} } }\n`;
  const unused = (name: string) => `nothing refers to endpoints "${name}"`;

  it("warns of them when they are others than before, also after their cluster is served", async () => {
    const { dir, write, remove } = await useFolder({
      "_opaque/clusters/web.yaml": eds("web"),
      "_opaque/endpoints/web.yaml": "{}",
      "_opaque/endpoints/api.yaml": "{}",
    });
    const { next } = useFeed({ dir });
    const warned = async (): Promise<readonly string[]> =>
      (await next("loaded")).warnings.map(({ message }) => message);
    expect(await warned()).toEqual([unused("api")]);
    await write({ "_opaque/clusters/web.yaml": `${eds("web")}connect_timeout: 2s\n` });
    expect(await warned()).toEqual([]);
    await remove("_opaque/clusters/web.yaml");
    await write({ "_opaque/clusters/api.yaml": eds("api") });
    expect([...(await warned())].at(-1)).toBe(unused("web"));
  });

  it("names five of them, and says how many more there are", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `e${index}`);
    const { dir } = await useFolder({
      "_opaque/clusters/web.yaml": "{}",
      ...Object.fromEntries(names.map((name) => [`_opaque/endpoints/${name}.yaml`, "{}"])),
    });
    const { next } = useFeed({ dir });
    expect((await next("loaded")).warnings.map(({ message }) => message)).toEqual([
      ...names.slice(0, 5).map(unused),
      "nothing refers to 3 more resources",
    ]);
  });

  it("does not warn where there is neither a cluster nor a listener, which could refer to them", async () => {
    const { dir } = await useFolder({ "_opaque/endpoints/web.yaml": "{}" });
    const { next } = useFeed({ dir });
    expect((await next("loaded")).warnings).toEqual([]);
  });
});

describe("createFolderFeed() with content per node", () => {
  it("applies nothing of a batch to any key where the cache rejects a file of one key or of all [S-NODE-10]", async () => {
    const { dir, write } = await useFolder({
      "_opaque/clusters/web.yaml": "connect_timeout: 1s\n",
      "_nodes/gold/_opaque/clusters/web.yaml": "connect_timeout: 2s\n",
    });
    let refuses = "";
    const nodes = createNodeCaches({
      keyOf: ({ cluster }) => cluster,
      types: [
        {
          typeUrl: clusters,
          validate: ({ name }) =>
            name === refuses ? new XdsError("INVALID_ARGUMENT", `no ${name} today`) : undefined,
        },
      ],
    });
    onTestFinished(() => nodes.close());
    const { next } = useFeed({ dir, sink: nodes.shared, nodes });
    await next("loaded");
    const { revision } = nodes;
    for (const [name, file] of [
      ["x", "_nodes/silver/_opaque/clusters/x.yaml"],
      ["y", "_opaque/clusters/y.yaml"],
    ] as const) {
      refuses = name;
      await write({
        "_nodes/gold/_opaque/clusters/web.yaml": `connect_timeout: ${name === "x" ? 3 : 4}s\n`,
        [file]: "{}",
      });
      expect(await next("rejected")).toMatchObject({
        problems: [{ file: join(dir, file), message: `no ${name} today` }],
      });
      expect([nodes.revision, nodes.keys()]).toEqual([revision, ["gold"]]);
    }
    refuses = "";
    await write({ "_opaque/clusters/z.yaml": "{}" });
    expect(await next("loaded")).toMatchObject({ put: 4 });
  });

  it("puts _nodes/KEY over what all nodes share, and follows edits, new keys and removed ones [S-NODE-10]", async () => {
    const { dir, write, remove } = await useFolder({
      "_opaque/clusters/web.yaml": "connect_timeout: 1s\n",
      "_nodes/gold/_opaque/clusters/web.yaml": "connect_timeout: 2s\n",
    });
    const nodes = createNodeCaches({ keyOf: ({ cluster }) => cluster });
    onTestFinished(() => nodes.close());
    const { next } = useFeed({ dir, sink: nodes.shared, nodes });
    const versionOf = (key: string): string | undefined =>
      nodes.of(key).topic(clusters, { name: "web" }).members()[0]?.resource?.version;
    expect(await next("loaded")).toMatchObject({ files: 2, resources: 2, put: 2 });
    const [shared, gold] = [versionOf("other"), versionOf("gold")];
    expect(gold).not.toBe(shared);
    await write({
      "_nodes/gold/_opaque/clusters/web.yaml": "connect_timeout: 3s\n",
      "_nodes/a%2Fb/_opaque/clusters/web.yaml": "connect_timeout: 2s\n",
    });
    expect(await next("loaded")).toMatchObject({ put: 2, revision: nodes.revision });
    expect(nodes.keys().toSorted()).toEqual(["a/b", "gold"]);
    expect(versionOf("a/b")).toBe(gold);
    await remove("_nodes");
    expect(await next("loaded")).toMatchObject({ resources: 1, removed: 2 });
    expect([versionOf("gold"), versionOf("a/b"), nodes.keys()]).toEqual([shared, shared, []]);
  });
  it("names the file of what is wrong below _nodes, and keeps the state before", async () => {
    const { dir, write } = await useFolder({ "_opaque/clusters/web.yaml": "{}" });
    const nodes = createNodeCaches({ keyOf: ({ cluster }) => cluster });
    onTestFinished(() => nodes.close());
    const { next } = useFeed({ dir, sink: nodes.shared, nodes });
    await next("loaded");
    await write({
      "_nodes/gold/_opaque/clusters/web.yaml": "bogus: 1\n",
      "_nodes/gold/a/clusters/x.yaml": "{}",
      "_nodes/x.yaml": "{}",
      "_nodes/gold/_opaque/clusterz/x.yaml": "{}",
    });
    const { problems } = await next("rejected");
    expect(problems.map(({ file }) => file.slice(dir.length + 1))).toEqual([
      "_nodes/gold/_opaque/clusters/web.yaml",
      "_nodes/gold/_opaque/clusterz",
      "_nodes/gold/a/clusters/x.yaml",
      "_nodes/x.yaml",
    ]);
    expect(problems.at(-1)?.message).toBe(
      "content per node lies in _nodes/KEY/_opaque/TYPE/NAME.yaml",
    );
    expect(nodes.keys()).toEqual([]);
  });
  it("says that content per node is not served where nothing takes it", async () => {
    const { dir } = await useFolder({ "_nodes/gold/_opaque/clusters/web.yaml": "{}" });
    const { next } = useFeed({ dir });
    expect((await next("rejected")).problems).toMatchObject([
      { message: "is content per node, which is not served here" },
    ]);
  });
});

describe("createFolderFeed() at the start", () => {
  it("commits the folder as one transaction over all types", async () => {
    const { dir } = await useFolder({
      "a/clusters/x.yaml": "connect_timeout: 1s\n",
      "_opaque/endpoints/y.json": "{}",
    });
    const { next, sink } = useFeed({ dir });
    expect(await next("loaded")).toEqual({
      kind: "loaded",
      files: 2,
      resources: 2,
      older: 0,
      put: 2,
      removed: 0,
      problems: [],
      revision: 1,
      warnings: [
        {
          file: join(dir, "_opaque/endpoints/y.json"),
          code: "unused-resource",
          message: 'nothing refers to endpoints "y"',
          hint: "remove it, unless a client requests it by this name",
        },
      ],
    });
    expect(sink.transactions).toMatchObject([{ atomic: true }]);
    expect([sink.names(clusters), sink.names(endpoints)]).toEqual([[`${prefix}x`], ["y"]]);
  });
  it("tells each reference to an authority that is not served once, as long as it stands, and serves it [S-AUTH-10]", async () => {
    const aggregate = (...names: readonly string[]): string =>
      JSON.stringify({
        lbPolicy: "CLUSTER_PROVIDED",
        clusterType: {
          name: "x",
          typedConfig: {
            "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig",
            clusters: names,
          },
        },
      });
    const far = (id: string): string => `xdstp://far/envoy.config.cluster.v3.Cluster/${id}`;
    const { dir, write } = await useFolder({
      "a/clusters/x.json": aggregate(far("1"), "opaque", `${prefix}y`),
    });
    const { next, events } = useFeed({ dir });
    const told = (): readonly string[] =>
      events.flatMap((event) => (event.kind === "foreign-reference" ? [event.name.slice(-1)] : []));
    expect(await next("foreign-reference")).toMatchObject({
      typeUrl: clusters,
      name: far("1"),
      more: 0,
      problem: { file: join(dir, "a/clusters/x.json"), line: 1, rule: "S-AUTH-10" },
    });
    await write({ "a/clusters/x.json": aggregate(far("1"), far("2")) });
    await next("foreign-reference");
    expect(told()).toEqual(["1", "2"]);
    await write({ "a/clusters/x.json": aggregate(far("2")) });
    await next("loaded");
    await write({ "a/clusters/x.json": aggregate(far("2"), far("1")) });
    await next("foreign-reference");
    expect(told()).toEqual(["1", "2", "1"]);
    await write({ "far/clusters/1.yaml": "{}" });
    await next("loaded");
    expect(told()).toHaveLength(3);
  });
  it("counts references to authorities that are not served, where they are many [S-AUTH-10]", async () => {
    const names = Array.from(
      { length: 23 },
      (_, id) => `xdstp://far/envoy.config.cluster.v3.Cluster/${id}`,
    );
    const { dir } = await useFolder({
      "_opaque/clusters/x.json": JSON.stringify({
        lbPolicy: "CLUSTER_PROVIDED",
        clusterType: {
          name: "x",
          typedConfig: {
            "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig",
            clusters: names,
          },
        },
      }),
    });
    const { next, events } = useFeed({ dir });
    await next("foreign-reference");
    expect(
      events.filter((event) => event.kind === "foreign-reference").map((event) => event.more),
    ).toEqual([...Array.from({ length: 19 }, () => 0), 3]);
  });
  it("takes an empty folder as a valid state: the cache is ready and empty", async () => {
    const { dir } = await useFolder();
    const cache = useCache();
    const { next } = useFeed({ dir, sink: cache });
    expect(await next("loaded")).toMatchObject({ files: 0, resources: 0 });
    expect(cache.ready).toBe(true);
  });
  it("commits nothing while a file is broken, so the cache is not ready until it is mended [S-STREAM-9]", async () => {
    const { dir, write } = await useFolder({
      "a/clusters/good.yaml": "{}",
      "a/clusters/x.yaml": "bogus: 1",
    });
    const cache = useCache();
    const { next } = useFeed({ dir, sink: cache });
    expect(await next("rejected")).toMatchObject({
      serving: false,
      problems: [{ file: join(dir, "a/clusters/x.yaml"), line: 1, column: 1 }],
    });
    expect(cache.ready).toBe(false);
    await write({ "a/clusters/x.yaml": "{}" });
    await next("loaded");
    expect(cache.ready).toBe(true);
    expect(namesOf(cache, clusters)).toEqual([`${prefix}good`, `${prefix}x`]);
  });
  it("waits for a folder that does not exist, not ready, and loads it when it appears [S-STREAM-9]", async () => {
    const { dir, write } = await useFolder();
    const cache = useCache();
    const { next } = useFeed({ dir: join(dir, "later"), sink: cache });
    expect(await next("unreadable")).toMatchObject({ problem: { file: join(dir, "later") } });
    expect(cache.ready).toBe(false);
    await write({ "later/a/clusters/x.yaml": "{}" });
    await next("loaded");
    expect(namesOf(cache, clusters)).toEqual([`${prefix}x`]);
  });
  it("is not ready where the folder is a file [S-STREAM-9]", async () => {
    const { dir } = await useFolder({ file: "" });
    const cache = useCache();
    const { next } = useFeed({ dir: join(dir, "file"), sink: cache });
    await next("unreadable");
    expect(cache.ready).toBe(false);
  });
  it("gives two replicas the same versions [S-VER-4]", async () => {
    const one = await useFolder({
      "a/clusters/x.yaml": "type: STATIC\nmetadata: {filter_metadata: {a: {}, b: {}}}",
    });
    const two = await useFolder({
      "a/clusters/x.json": '{"metadata":{"filterMetadata":{"b":{},"a":{}}},"type":"STATIC"}',
    });
    const versions = await Promise.all(
      [one, two].map(async ({ dir }) => {
        const cache = useCache();
        await useFeed({ dir, sink: cache }).next("loaded");
        return Array.from(cache.held(clusters), ({ version }) => version);
      }),
    );
    expect(versions[0]).toHaveLength(1);
    expect(versions[0]).toEqual(versions[1]);
  });
});

describe("createFolderFeed() after an edit", () => {
  it("puts what changed and removes what is gone, as one transaction", async () => {
    const { dir, write, remove } = await useFolder({
      "a/clusters/x.yaml": "{}",
      "a/clusters/y.yaml": "{}",
      "a/clusters/z.yaml": "{}",
    });
    const { next, sink } = useFeed({ dir });
    await next("loaded");
    await write({ "a/clusters/x.yaml": "type: STATIC", "a/endpoints/x.yaml": "{}" });
    await remove("a/clusters/y.yaml");
    expect(await next("loaded")).toMatchObject({ put: 2, removed: 1, resources: 3, revision: 2 });
    expect(sink.names(clusters)).toEqual([`${prefix}x`, `${prefix}z`]);
    expect(sink.transactions).toHaveLength(2);
  });
  it("removes a resource whose name has parameters", async () => {
    const name = `${prefix}x?k=v`;
    const { dir, remove } = await useFolder({
      "a/clusters/x.yaml": `name: ${name}\nresource: {}`,
      "a/clusters/y.yaml": "{}",
    });
    const cache = useCache();
    const { next } = useFeed({ dir, sink: cache });
    await next("loaded");
    expect(Array.from(cache.held(clusters), (held) => held.name).sort()).toEqual([
      name,
      `${prefix}y`,
    ]);
    await remove("a/clusters/x.yaml");
    await next("loaded");
    expect(Array.from(cache.held(clusters), (held) => held.name)).toEqual([`${prefix}y`]);
  });
  it("follows a file that moves to another name and type", async () => {
    const { dir, move } = await useFolder({ "a/clusters/x.yaml": "{}" });
    const { next, sink } = useFeed({ dir });
    await next("loaded");
    await move("a/clusters/x.yaml", "a/endpoints/y.yaml");
    await next("loaded");
    expect([sink.names(clusters), sink.names(endpoints)]).toEqual([
      [],
      ["xdstp://a/envoy.config.endpoint.v3.ClusterLoadAssignment/y"],
    ]);
  });
  it("follows an editor that writes a temporary file and renames it", async () => {
    const { dir, write, move } = await useFolder({ "a/clusters/x.yaml": "{}" });
    const { next, sink } = useFeed({ dir });
    await next("loaded");
    await write({ "a/clusters/x.yaml.tmp": "type: STATIC" });
    await move("a/clusters/x.yaml.tmp", "a/clusters/x.yaml");
    expect(await next("loaded")).toMatchObject({ put: 1 });
    expect(sink.names(clusters)).toEqual([`${prefix}x`]);
  });
  it("watches folders that appear later, and those inside them", async () => {
    const { dir, write } = await useFolder();
    const { next, sink } = useFeed({ dir });
    await next("loaded");
    await write({ "b/clusters/ns/x.yaml": "{}" });
    await next("loaded");
    await write({ "b/clusters/ns/y.yaml": "{}" });
    await next("loaded");
    expect(sink.names(clusters)).toHaveLength(2);
  });
  it("watches a folder that was replaced by another of the same name", async () => {
    const { dir, write, move } = await useFolder({
      "a/clusters/x.yaml": "{}",
      "../new/clusters/y.yaml": "{}",
    });
    const { next, sink } = useFeed({ dir });
    await next("loaded");
    await move("a", "../old");
    await move("../new", "a");
    await next("loaded");
    await waitFor(() => sink.names(clusters).join() === `${prefix}y`);
    await write({ "a/clusters/z.yaml": "{}" });
    await waitFor(() => sink.names(clusters).length === 2);
  });
  it("commits nothing for a file that is saved without a change, and for temporary files", async () => {
    const { dir, write } = await useFolder({ "a/clusters/x.yaml": "{}" });
    const { next, sink, events } = useFeed({ dir });
    await next("loaded");
    await write({ "a/clusters/x.yaml": "{}", "a/clusters/.x.swp": "", "a/clusters/x.yaml~": "" });
    await write({ "a/clusters/y.yaml": "{}" });
    expect(await next("loaded")).toMatchObject({ put: 1, revision: 2 });
    expect(sink.transactions).toHaveLength(2);
    expect(events).toHaveLength(2);
  });
  it("tells of a file with a misspelt extension", async () => {
    const { dir, write } = await useFolder({ "a/clusters/y.yaml": "{}" });
    const { next, sink } = useFeed({ dir });
    await next("loaded");
    await write({ "a/clusters/x.ymal": "{}" });
    expect(await next("loaded")).toMatchObject({
      warnings: [{ file: join(dir, "a/clusters/x.ymal") }],
      revision: 1,
    });
    expect(sink.transactions).toHaveLength(1);
  });
  it("gives a writer that empties a file before it fills it one more burst", async () => {
    const { dir, write } = await useFolder({ "a/clusters/x.yaml": "{}" });
    const clock = createFakeClock();
    const { next, sink, events } = useFeed({ dir, clock });
    await next("loaded");
    await waitFor(() => clock.pending === 2);
    clock.advance(100);
    await waitFor(() => clock.pending === 0);
    await waitFor(() => clock.pending === 1);
    await write({ "a/clusters/x.yaml": "" });
    await waitFor(() => clock.pending === 2);
    clock.advance(100);
    await waitFor(() => clock.pending === 0);
    await waitFor(() => clock.pending === 1);
    expect(events).toHaveLength(1);
    await write({ "a/clusters/x.yaml": "type: STATIC" });
    const loaded = next("loaded");
    await waitFor(() => {
      clock.advance(100);
      return sink.transactions.length > 1;
    });
    expect(await loaded).toMatchObject({ put: 1 });
  });
  it("finds a file broken that stays empty", async () => {
    const { dir, write } = await useFolder({ "a/clusters/x.yaml": "{}" });
    const { next } = useFeed({ dir });
    await next("loaded");
    await write({ "a/clusters/x.yaml": "" });
    expect(await next("rejected")).toMatchObject({
      serving: true,
      problems: [{ message: "is empty" }],
    });
  });
  it("waits for 100 ms of quiet on the clock it is given", async () => {
    const { dir, write } = await useFolder();
    const clock = createFakeClock();
    const { next, sink } = useFeed({ dir, clock });
    await next("loaded");
    await waitFor(() => clock.pending > 0);
    clock.advance(100);
    await write({ "a/clusters/x.yaml": "{}" });
    await waitFor(() => clock.pending > 0);
    clock.advance(99);
    expect(clock.pending).toBe(1);
    const loaded = next("loaded");
    await waitFor(() => {
      clock.advance(100);
      return sink.transactions.length > 1;
    });
    expect(await loaded).toMatchObject({ put: 1 });
  });
});

describe("createFolderFeed() behind symbolic links", () => {
  it("follows a mounted volume whose ..data is swapped, as Kubernetes does", async () => {
    const { dir, write, link, move, remove } = await useFolder();
    await write({ "a/clusters/..v1/x.yaml": "type: STATIC" });
    await link("a/clusters/..data", "..v1");
    await link("a/clusters/x.yaml", "..data/x.yaml");
    const { next, sink } = useFeed({ dir });
    await next("loaded");
    const before = sink.resource(clusters, `${prefix}x`)?.payload.value;
    await write({ "a/clusters/..v2/x.yaml": "type: STATIC\nconnect_timeout: 1s" });
    await link("a/clusters/..data_tmp", "..v2");
    await move("a/clusters/..data_tmp", "a/clusters/..data");
    await remove("a/clusters/..v1");
    expect(await next("loaded")).toMatchObject({ put: 1, removed: 0 });
    expect(sink.resource(clusters, `${prefix}x`)?.payload.value).not.toEqual(before);
  });
  it("follows a whole tree below a ..data that is swapped", async () => {
    const { dir, write, link, move } = await useFolder({ "..v1/a/clusters/x.yaml": "{}" });
    await link("..data", "..v1");
    await link("a", "..data/a");
    const { next, sink } = useFeed({ dir });
    await next("loaded");
    await write({ "..v2/a/clusters/y.yaml": "{}" });
    await link("..data_tmp", "..v2");
    await move("..data_tmp", "..data");
    expect(await next("loaded")).toMatchObject({ put: 1, removed: 1 });
    await write({ "..v2/a/clusters/z.yaml": "{}" });
    await next("loaded");
    expect(sink.names(clusters)).toEqual([`${prefix}y`, `${prefix}z`]);
  });
  it("follows an edit of a file outside of the folder that a link leads to, also after the link was replaced", async () => {
    const { dir, write, link, move } = await useFolder();
    await write({ "../one/x.yaml": "{}", "../two/x.yaml": "type: STATIC" });
    await link("a/clusters/x.yaml", "../../../one/x.yaml");
    const { next } = useFeed({ dir });
    await next("loaded");
    await write({ "../one/x.yaml": "connect_timeout: 1s" });
    await next("loaded");
    await link("a/clusters/.tmp", "../../../two/x.yaml");
    await move("a/clusters/.tmp", "a/clusters/x.yaml");
    await next("loaded");
    await write({ "../two/x.yaml": "connect_timeout: 2s" });
    expect(await next("loaded")).toMatchObject({ put: 1 });
  });
  it("follows the folder itself where it is a link that is swapped", async () => {
    const { dir, write, link, move } = await useFolder({
      "v1/a/clusters/x.yaml": "{}",
      "v2/a/clusters/y.yaml": "{}",
    });
    await link("now", "v1");
    const { next, sink } = useFeed({ dir: join(dir, "now") });
    await next("loaded");
    await link("next", "v2");
    await move("next", "now");
    await next("loaded");
    expect(sink.names(clusters)).toEqual([`${prefix}y`]);
    await write({ "v2/a/clusters/z.yaml": "{}" });
    await next("loaded");
    expect(sink.names(clusters)).toHaveLength(2);
  });
});

describe("createFolderFeed() while it reads", () => {
  it("never serves a part of each of two trees, if the link to them is replaced meanwhile", async () => {
    const { dir, write, link, move } = await useFolder({
      "v1/_opaque/clusters/cart.yaml": "{}",
      "v1/_opaque/endpoints/cart.yaml": "{}",
      "v2/_opaque/clusters/cart-v2.yaml": "{}",
      "v2/_opaque/endpoints/cart-v2.yaml": "{}",
    });
    await link("now", "v1");
    await link("next", "v2");
    const listeners = new Map<string, Parameters<WatchDirectory>[1]>();
    const { next, sink } = useFeed({
      dir: join(dir, "now"),
      watch: (directory, listener) => {
        listeners.set(directory, listener);
        // The clusters are listed by now, and none of their files is read.
        if (directory.endsWith("sub")) {
          void move("next", "now");
          listeners.get(dir)?.("rename", "now");
        }
        return { on: () => undefined, close: () => undefined };
      },
    });
    await next("loaded");
    await write({ "v1/_opaque/clusters/sub/x.yaml": "{}" });
    listeners.get(join(dir, "now/_opaque/clusters"))?.("rename", "sub");
    expect(await next("loaded")).toMatchObject({ put: 2, removed: 2 });
    expect([sink.names(clusters), sink.names(endpoints)]).toEqual([["cart-v2"], ["cart-v2"]]);
  });

  it("serves a folder that changes during each reading", async () => {
    const { dir, write } = await useFolder({ "_opaque/clusters/d0/x.yaml": "{}" });
    let made = 0;
    const listeners = new Map<string, Parameters<WatchDirectory>[1]>();
    const { next } = useFeed({
      dir,
      watch: (directory, listener) => {
        listeners.set(directory, listener);
        if (/d\d+$/.test(directory) && made < 9) {
          void write({ [`_opaque/clusters/d${++made}/x.yaml`]: "{}" });
          listeners.get(join(dir, "_opaque/clusters"))?.("rename", `d${made}`);
        }
        return { on: () => undefined, close: () => undefined };
      },
    });
    expect(await next("loaded")).toMatchObject({ files: 2 });
  });
});

describe("createFolderFeed() beside the rest", () => {
  it("reads the folder every 2 s where it cannot be watched, and says so once", async () => {
    const { dir, write } = await useFolder();
    const clock = createFakeClock();
    const { next, sink, events } = useFeed({
      dir,
      clock,
      watch: () => {
        throw enospc;
      },
    });
    expect(await next("polling")).toMatchObject({
      message: expect.stringContaining("every 2 s") as string,
    });
    await next("loaded");
    for (const name of ["x", "y"]) {
      await write({ [`a/clusters/${name}.yaml`]: "{}" });
      await waitFor(() => clock.pending > 0);
      clock.advance(1_999);
      expect(clock.pending).toBe(1);
      clock.advance(1);
      await next("loaded");
    }
    expect(sink.names(clusters)).toHaveLength(2);
    expect(events.filter(({ kind }) => kind === "polling")).toHaveLength(1);
  });
  it.runIf(process.platform === "linux")(
    "keeps the last state when a file gets a name that is not UTF-8 (on Linux; elsewhere there are no such names) [N-06]",
    async () => {
      const { dir } = await useFolder({ "a/clusters/x.json": "{}" });
      const { next, sink } = useFeed({ dir });
      await next("loaded");
      await rename(
        join(dir, "a/clusters/x.json"),
        Buffer.from(join(dir, "a/clusters/caf\xe9.json"), "latin1"),
      );
      expect(await next("rejected")).toMatchObject({
        serving: true,
        problems: [{ file: join(dir, "a/clusters/caf\uFFFD.json"), rule: "N-06" }],
      });
      expect(sink.names(clusters)).toEqual([`${prefix}x`]);
    },
  );
  it("says of a folder that cannot be read only that, and that it cannot be watched once it can be read", async () => {
    const { dir, write } = await useFolder();
    const clock = createFakeClock();
    const { next, events } = useFeed({
      dir: join(dir, "later"),
      clock,
      watch: () => {
        throw enospc;
      },
    });
    await next("unreadable");
    expect(events.map(({ kind }) => kind)).toEqual(["unreadable"]);
    await write({ "later/a/clusters/x.yaml": "{}" });
    await waitFor(() => clock.pending > 0);
    clock.advance(1_000);
    await next("loaded");
    expect(events.map(({ kind }) => kind)).toEqual(["unreadable", "polling", "loaded"]);
  });
  it("says what the user lacks where it may not watch a folder", async () => {
    const { dir } = await useFolder();
    const { next } = useFeed({
      dir,
      watch: () => {
        throw Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
      },
    });
    expect((await next("polling")).message).toBe(
      `${dir} cannot be watched (EACCES: permission denied), so it is read again every 2 s; give this user the right to read it to be notified`,
    );
  });
  it("takes TTLs and aliases along, and makes no words of them", async () => {
    const { dir } = await useFolder({
      "_opaque/clusters/x.yaml": "ttl: 5s\naliases: [b]\nresource: {}",
    });
    const { next, sink, events } = useFeed({ dir });
    await next("loaded");
    expect(sink.resource(clusters, "x")).toMatchObject({ ttlMs: 5_000, aliases: ["b"] });
    expect(events.map(({ kind }) => kind)).toEqual(["loaded"]);
  });
  it("ends when it is stopped, leaves no timer, and reads nothing any more", async () => {
    const { dir, write } = await useFolder();
    const clock = createFakeClock();
    const { next, stop, sink } = useFeed({ dir, clock });
    await next("loaded");
    await stop();
    await write({ "a/clusters/x.yaml": "{}" });
    expect(clock.pending).toBe(0);
    expect(sink.transactions).toHaveLength(1);
  });
  it("does nothing where it was stopped before it began", async () => {
    const { dir } = await useFolder();
    const sink = createRecordingSink();
    await createFolderFeed({ dir, registry: envoyRegistry() }).run(sink, AbortSignal.abort());
    expect(sink.transactions).toEqual([]);
  });
  it("rejects with what onEvent throws, and stops watching", async () => {
    const { dir } = await useFolder();
    const onEvent = (): never => {
      throw new Error("enough");
    };
    const clock = createFakeClock();
    await expect(
      createFolderFeed({ dir, registry: envoyRegistry(), clock, onEvent }).run(
        createRecordingSink(),
        new AbortController().signal,
      ),
    ).rejects.toThrow("enough");
    expect(clock.pending).toBe(0);
  });
});

describe("createFolderFeed() with constraints", () => {
  it.each([
    ["a small file", ""],
    ["a file that another process reads", `alt_stat_name: ${"x".repeat(300_000)}\n`],
  ])("applies what is allowed to violate one, and warns, in %s", async (_, more) => {
    const { dir } = await useFolder({
      "_opaque/clusters/web.yaml": `${more}connect_timeout: 0s\n`,
    });
    const { next } = useFeed({ dir, sink: useCache(), allow: ["constraint"] });
    expect(await next("loaded")).toMatchObject({
      put: 1,
      problems: [],
      warnings: [{ code: "constraint", message: "connect_timeout must be more than 0s" }],
    });
  });

  it.each([
    ["a small file", ""],
    ["a file that another process reads", `alt_stat_name: ${"x".repeat(300_000)}\n`],
  ])("applies nothing of a batch that violates one, in %s", async (_, more) => {
    const { dir, write } = await useFolder({ "_opaque/clusters/web.yaml": "{}" });
    const cache = useCache();
    const { next } = useFeed({ dir, sink: cache });
    await next("loaded");
    await write({
      "_opaque/clusters/api.yaml": "{}",
      "_opaque/clusters/web.yaml": `${more}connect_timeout: 0s\n`,
    });
    expect(await next("rejected")).toMatchObject({
      problems: [
        {
          file: join(dir, "_opaque/clusters/web.yaml"),
          line: more === "" ? 1 : 2,
          message: "connect_timeout must be more than 0s",
          rule: "duration.gt",
        },
      ],
      serving: true,
    });
    expect(namesOf(cache, clusters)).toEqual(["web"]);
  });
});
