import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { XdsError } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { createRecordingSink } from "../test/create-recording-sink.ts";
import { useFeed } from "../test/use-feed.ts";
import { useFolder } from "../test/use-folder.ts";
import { waitFor } from "../test/wait-for.ts";

const clusters = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const prefix = "xdstp://a/envoy.config.cluster.v3.Cluster/";

/** Returns a file with the clusters `c{from}` up to, but not including, `c{to}`. */
const documents = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => `name: c${from + i}\n`).join("---\n");

describe("createFolderFeed() with a large batch", () => {
  it("prepares its resources before it commits them, and lets other work of the event loop run in between", async () => {
    const { dir } = await useFolder({ "_opaque/clusters/all.yaml": documents(0, 9_000) });
    const recording = createRecordingSink();
    const steps: string[] = [];
    let turns = 0;
    const prepared = new Set<object>();
    const { next } = useFeed({
      dir,
      sink: {
        ...recording,
        prepare(resource) {
          if (prepared.size % 4_500 === 0) {
            const turn = ++turns;
            setImmediate(() => steps.push(`turn ${turn}`));
          }
          prepared.add(resource);
        },
        commit(transaction) {
          const { put = [] } = transaction;
          steps.push(`commit ${put.filter(({ resource }) => prepared.has(resource)).length}`);
          return recording.commit(transaction);
        },
      },
    });
    await next("loaded");
    expect(steps).toEqual(["turn 1", "turn 2", "commit 9000"]);
  });
});

describe("createFolderFeed() when a batch is broken", () => {
  it("applies nothing of it, serves the last good state, and all of it once it is mended", async () => {
    const { dir, write, remove } = await useFolder({
      "a/clusters/x.yaml": "{}",
      "a/clusters/y.yaml": "{}",
    });
    const { next, sink } = useFeed({ dir });
    await next("loaded");
    await write({ "a/clusters/x.yaml": "a: [", "a/clusters/new.yaml": "{}" });
    await remove("a/clusters/y.yaml");
    expect(await next("rejected")).toMatchObject({
      serving: true,
      problems: [{ file: join(dir, "a/clusters/x.yaml"), line: 1 }],
    });
    expect(sink.names(clusters)).toEqual([`${prefix}x`, `${prefix}y`]);
    expect(sink.outage?.code).toBe("UNAVAILABLE");
    await write({ "a/clusters/x.yaml": "type: STATIC" });
    expect(await next("loaded")).toMatchObject({ put: 2, removed: 1 });
    expect(sink.names(clusters)).toEqual([`${prefix}new`, `${prefix}x`]);
    expect(sink.outage).toBeUndefined();
  });
  it("rejects two files with one name, and names both [N-40]", async () => {
    const { dir, write } = await useFolder({ "a/clusters/x.yaml": "{}" });
    const { next } = useFeed({ dir });
    await next("loaded");
    await write({ "a/clusters/x.json": "{}" });
    const { problems } = await next("rejected");
    expect(`${problems[0]?.file ?? ""} ${problems[0]?.message ?? ""}`).toMatch(
      /x\.json.*x\.yaml|x\.yaml.*x\.json/,
    );
  });
  it("tells again when the file is saved and still broken, but not when it is only read again", async () => {
    const { dir, write } = await useFolder({ "a/clusters/x.yaml": "bogus: 1" });
    const clock = createFakeClock();
    const { next, events } = useFeed({
      dir,
      clock,
      watch: () => {
        throw new Error("ENOSPC");
      },
    });
    const readAgain = async (): Promise<void> => {
      clock.advance(2_000);
      await waitFor(() => clock.pending > 0);
    };
    await next("rejected");
    await waitFor(() => clock.pending > 0);
    await readAgain();
    await readAgain();
    expect(events.map(({ kind }) => kind)).toEqual(["polling", "rejected"]);
    await write({ "a/clusters/x.yaml": "bogus: 2" });
    await readAgain();
    await write({ "a/clusters/x.yaml": "{}" });
    await readAgain();
    expect(events.map(({ kind }) => kind)).toEqual(["polling", "rejected", "rejected", "loaded"]);
  });
  it("answers a file that was emptied after ten others were broken", async () => {
    const files: Record<string, string> = { "_opaque/clusters/x.yaml": "{}" };
    for (let i = 0; i < 10; i++) files[`_opaque/clusters/${i}.yaml`] = "bogus: 1";
    const { dir, write } = await useFolder(files);
    const { next } = useFeed({ dir });
    expect((await next("rejected")).problems).toHaveLength(10);
    await write({ "_opaque/clusters/x.yaml": "" });
    expect((await next("rejected")).problems).toHaveLength(11);
  });
  it("tells that all is well when a broken file is put back as it was", async () => {
    const { dir, write } = await useFolder({ "a/clusters/x.yaml": "{}" });
    const { next, sink } = useFeed({ dir });
    await next("loaded");
    await write({ "a/clusters/y.yaml": "bogus: 1" });
    await next("rejected");
    await rm(join(dir, "a/clusters/y.yaml"));
    expect(await next("loaded")).toMatchObject({ put: 0, removed: 0, revision: 1 });
    expect(sink.outage).toBeUndefined();
  });
  it("rejects what the cache rejects, names the file, and applies nothing of the batch", async () => {
    const { dir, write } = await useFolder({
      "a/clusters/x.yaml": "{}",
      "a/clusters/y.yaml": "{}",
    });
    let isRejecting = true;
    const sink = createRecordingSink((name) =>
      isRejecting && name.endsWith("/y")
        ? new XdsError("INVALID_ARGUMENT", "no y today")
        : undefined,
    );
    const { next } = useFeed({ dir, sink });
    expect(await next("rejected")).toMatchObject({
      serving: false,
      problems: [{ file: join(dir, "a/clusters/y.yaml"), message: "no y today" }],
    });
    isRejecting = false;
    await write({ "a/clusters/z.yaml": "{}" });
    expect(await next("loaded")).toMatchObject({ put: 3 });
  });
});

describe("createFolderFeed() when much is lost", () => {
  it("keeps the last state when the folder vanishes, and follows it again when it is back", async () => {
    const { dir, move } = await useFolder({ "a/clusters/x.yaml": "{}" });
    const { next, sink } = useFeed({ dir });
    await next("loaded");
    await move(".", "../away");
    expect(await next("kept")).toMatchObject({
      reason: "root-vanished",
      held: 1,
      lost: 1,
      message: expect.stringContaining(dir) as string,
    });
    expect(sink.names(clusters)).toEqual([`${prefix}x`]);
    expect(sink.outage?.code).toBe("UNAVAILABLE");
    await mkdir(join(dir, "a/clusters"), { recursive: true });
    await writeFile(join(dir, "a/clusters/y.yaml"), "{}");
    await waitFor(() => sink.names(clusters).join() === `${prefix}y`);
    expect(sink.outage).toBeUndefined();
  });
  it("keeps the last state when the parent of the folder vanishes too", async () => {
    const { dir } = await useFolder({ "inner/a/clusters/x.yaml": "{}" });
    const { next, sink } = useFeed({ dir: join(dir, "inner") });
    await next("loaded");
    await rm(dirname(dir), { recursive: true });
    await next("kept");
    expect(sink.names(clusters)).toEqual([`${prefix}x`]);
    await mkdir(join(dir, "inner/a/clusters"), { recursive: true });
    await writeFile(join(dir, "inner/a/clusters/y.yaml"), "{}");
    await waitFor(() => sink.names(clusters).join() === `${prefix}y`);
  });
  it("removes everything when the folder vanishes and mass deletion is allowed, and puts it again when it is back", async () => {
    const { dir, move } = await useFolder({ "a/clusters/x.yaml": "{}" });
    const { next, sink } = useFeed({ dir, allowMassDelete: true });
    await next("loaded");
    await move(".", "../away");
    expect(await next("loaded")).toMatchObject({ resources: 0, removed: 1 });
    await move("../away", "../config");
    await waitFor(() => sink.names(clusters).join() === `${prefix}x`);
  });
  const half = {
    "_opaque/clusters/stay.yaml": documents(0, 50),
    "_opaque/clusters/go.yaml": documents(50, 101),
  };
  it("keeps the last state when more than half of more than 100 resources go at once, until they are back", async () => {
    const { dir, remove, write } = await useFolder(half);
    const { next, sink } = useFeed({ dir });
    await next("loaded");
    await remove("_opaque/clusters/go.yaml");
    await write({ "_opaque/clusters/new.yaml": "{}" });
    expect(await next("kept")).toMatchObject({ reason: "mass-delete", held: 101, lost: 51 });
    expect(sink.names(clusters)).toHaveLength(101);
    await write({ "_opaque/clusters/go.yaml": documents(50, 101) });
    expect(await next("loaded")).toMatchObject({ resources: 102 });
    expect(sink.names(clusters)).toHaveLength(102);
  });
  it("answers each edit while the last state is kept, but says nothing where the folder is only read again", async () => {
    const { dir, remove, write } = await useFolder(half);
    const clock = createFakeClock();
    const { next, events } = useFeed({
      dir,
      clock,
      watch: () => {
        throw new Error("ENOSPC");
      },
    });
    const kinds = async (): Promise<readonly string[]> => {
      clock.advance(2_000);
      await waitFor(() => clock.pending > 0);
      return events.map(({ kind }) => kind).slice(2);
    };
    await next("loaded");
    await waitFor(() => clock.pending > 0);
    await remove("_opaque/clusters/go.yaml");
    expect(await kinds()).toEqual(["kept"]);
    expect(await kinds()).toEqual(["kept"]);
    await write({ "_opaque/clusters/new.yaml": "{}" });
    expect(await kinds()).toEqual(["kept", "kept"]);
    await remove("_opaque/clusters/new.yaml");
    expect(await kinds()).toEqual(["kept", "kept", "kept"]);
    expect(events.at(-1)).toMatchObject({
      message: expect.stringContaining("no edit is applied") as string,
    });
    expect(await kinds()).toEqual(["kept", "kept", "kept"]);
  });
  it("lets them go where mass deletion is allowed", async () => {
    const { dir, remove } = await useFolder(half);
    const { next } = useFeed({ dir, allowMassDelete: true });
    await next("loaded");
    await remove("_opaque/clusters/go.yaml");
    expect(await next("loaded")).toMatchObject({ resources: 50, removed: 51 });
  });
  it("lets half of them go, and all of 100", async () => {
    const { dir, remove, write } = await useFolder({
      "_opaque/clusters/stay.yaml": documents(0, 51),
      "_opaque/clusters/go.yaml": documents(51, 102),
    });
    const { next } = useFeed({ dir });
    await next("loaded");
    await remove("_opaque/clusters/go.yaml");
    expect(await next("loaded")).toMatchObject({ removed: 51 });
    await write({ "_opaque/clusters/stay.yaml": documents(0, 100) });
    await next("loaded");
    await remove("_opaque/clusters/stay.yaml");
    expect(await next("loaded")).toMatchObject({ resources: 0, removed: 100 });
  });
});
