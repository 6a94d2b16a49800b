import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { useFeed } from "../test/use-feed.ts";
import { useFolder } from "../test/use-folder.ts";
import { waitFor } from "../test/wait-for.ts";

const clusters = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const prefix = "xdstp://a/envoy.config.cluster.v3.Cluster/";

/** Runs a feed whose directories can be replaced without a notification, as by mounts and unmounts. */
const useSilentFeed = async (files: Readonly<Record<string, string>>) => {
  const folder = await useFolder(files);
  const clock = createFakeClock();
  const feed = useFeed({
    dir: folder.dir,
    clock,
    watch: () => ({ on: () => undefined, close: () => undefined }),
  });
  await feed.next("loaded");
  // The first reading begins to watch the path of the folder, which requires a second reading.
  await waitFor(() => clock.pending === 2);
  clock.advance(100);
  await waitFor(() => clock.pending === 0);
  await waitFor(() => clock.pending === 1);
  /** Advances the clock until the next event, and returns its kind. */
  const later = async (): Promise<string> => {
    const count = feed.events.length;
    await waitFor(() => {
      clock.advance(100);
      return feed.events.length > count;
    });
    return feed.events.at(-1)?.kind ?? "";
  };
  return { ...folder, ...feed, later };
};

describe("createFolderFeed() where a volume goes away", () => {
  it("keeps the last state when an unmount shows an empty folder, and follows the volume when it is back", async () => {
    const { dir, sink, events, later } = await useSilentFeed({
      "a/clusters/x.yaml": "{}",
      "a/clusters/y.yaml": "{}",
    });
    renameSync(dir, `${dir}.volume`);
    mkdirSync(dir);
    expect(await later()).toBe("kept");
    expect(events.at(-1)).toMatchObject({
      reason: "emptied",
      held: 2,
      lost: 2,
      message: expect.stringContaining(`${dir} is empty`) as string,
    });
    expect([sink.names(clusters).length, sink.outage?.code]).toEqual([2, "UNAVAILABLE"]);
    rmSync(dir, { recursive: true });
    renameSync(`${dir}.volume`, dir);
    writeFileSync(join(dir, "a/clusters/x.yaml"), "type: STATIC");
    expect(await later()).toBe("loaded");
    expect(events.at(-1)).toMatchObject({ resources: 2, removed: 0 });
    expect(sink.outage).toBeUndefined();
  });
  it("loads a volume that is mounted after the start", async () => {
    const { dir, sink, later } = await useSilentFeed({ "../volume/a/clusters/x.yaml": "{}" });
    renameSync(dir, `${dir}.hidden`);
    renameSync(join(dir, "../volume"), dir);
    expect(await later()).toBe("loaded");
    expect(sink.names(clusters)).toEqual([`${prefix}x`]);
  });
  it("follows a folder that is replaced by another one with fewer resources", async () => {
    const { dir, sink, later } = await useSilentFeed({
      "a/clusters/x.yaml": "{}",
      "a/clusters/y.yaml": "{}",
      "a/clusters/z.yaml": "{}",
      "../volume/a/clusters/z.yaml": "{}",
    });
    renameSync(dir, `${dir}.hidden`);
    renameSync(join(dir, "../volume"), dir);
    expect(await later()).toBe("loaded");
    expect(sink.names(clusters)).toEqual([`${prefix}z`]);
  });
  it("removes everything where mass deletion is allowed", async () => {
    const { dir, remove } = await useFolder({ "a/clusters/x.yaml": "{}" });
    const { next } = useFeed({ dir, allowMassDelete: true });
    await next("loaded");
    await remove("a");
    expect(await next("loaded")).toMatchObject({ resources: 0, removed: 1 });
  });
});

describe("createFolderFeed() where everything is deleted by hand", () => {
  it("removes the last resource while its directories are there", async () => {
    const { dir, remove } = await useFolder({ "a/clusters/x.yaml": "{}" });
    const { next } = useFeed({ dir });
    await next("loaded");
    await remove("a/clusters/x.yaml");
    expect(await next("loaded")).toMatchObject({ resources: 0, removed: 1 });
  });
  it("keeps the last state when the last directory goes, until an empty one says that it is meant", async () => {
    const { dir, remove } = await useFolder({ "a/clusters/x.yaml": "{}" });
    const { next } = useFeed({ dir });
    await next("loaded");
    await remove("a");
    expect(await next("kept")).toMatchObject({
      reason: "emptied",
      message: expect.stringContaining("leave an empty sub-folder") as string,
    });
    mkdirSync(join(dir, "_opaque"));
    expect(await next("loaded")).toMatchObject({ resources: 0, removed: 1 });
  });
});

/** Mounts an empty file system. Returns a function that unmounts it, or `undefined` if this machine does not allow it; the reason is printed. */
function mount(directory: string): (() => void) | undefined {
  try {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", directory], { stdio: "pipe" });
  } catch (error) {
    console.log(
      `not tried with real mounts: ${error instanceof Error ? error.message.trim() : String(error)}`,
    );
    return undefined;
  }
  let isMounted = true;
  const unmount = (): void => {
    if (isMounted) execFileSync("umount", ["-l", directory]);
    isMounted = false;
  };
  onTestFinished(unmount);
  return unmount;
}

describe("createFolderFeed() with real mounts", () => {
  it.each(["", "_opaque", "_opaque/clusters"])(
    'keeps, and follows again, what a volume at "%s" below the folder gives',
    async (path) => {
      const { dir, write } = await useFolder({
        "_opaque/clusters/.keep": "",
        "b/clusters/x.yaml": "{}",
      });
      const volume = join(dir, path);
      const unmount = mount(volume);
      if (unmount === undefined) return;
      await write({ "_opaque/clusters/x.yaml": "{}", "_opaque/clusters/y.yaml": "{}" });
      const clock = createFakeClock();
      const { next, sink } = useFeed({ dir, clock });
      const after = async <T>(event: Promise<T>): Promise<T> => {
        let isOver = false;
        void event.finally(() => {
          isOver = true;
        });
        await waitFor(() => {
          clock.advance(100);
          return isOver;
        });
        return await event;
      };
      await next("loaded");
      unmount();
      if (path === "") rmSync(join(dir, "b"), { recursive: true });
      expect(await after(next("kept"))).toMatchObject({ reason: "emptied", lost: 2 });
      const remove = mount(volume);
      await write({
        "_opaque/clusters/x.yaml": "{}",
        "_opaque/clusters/y.yaml": "{}",
        "_opaque/clusters/z.yaml": "{}",
      });
      expect(await after(next("loaded"))).toMatchObject({ put: 3, removed: 0 });
      expect(sink.names(clusters)).toContain("z");
      remove?.();
    },
  );

  it.each([
    ["the folder", "", ""],
    ["a directory in the folder", "", "_opaque/clusters"],
    ["a directory that the folder lies in", "below", ""],
  ])(
    "keeps the last state when a volume over %s with resources is unmounted, and follows the volume when it is mounted again",
    async (_, below, path) => {
      const own = "_opaque/clusters";
      const { dir: root } = await useFolder({
        [join(below, own, "x.yaml")]: "type: STATIC",
        [join(below, own, "old.yaml")]: "{}",
      });
      const dir = join(root, below);
      const volume = below === "" ? join(dir, path) : root;
      const cover = (files: Readonly<Record<string, string>>): (() => void) | undefined => {
        const unmount = mount(volume);
        if (unmount === undefined) return undefined;
        mkdirSync(join(dir, own), { recursive: true });
        for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, own, name), text);
        return unmount;
      };
      const unmount = cover({ "x.yaml": "{}", "y.yaml": "{}" });
      if (unmount === undefined) return;
      const clock = createFakeClock();
      const { next, sink } = useFeed({ dir, clock });
      const after = async <T>(event: Promise<T>): Promise<T> => {
        let isOver = false;
        void event.finally(() => {
          isOver = true;
        });
        await waitFor(() => {
          clock.advance(100);
          return isOver;
        });
        return await event;
      };
      await next("loaded");
      unmount();
      expect(await after(next("kept"))).toMatchObject({
        reason: "unmounted",
        directory: join(dir, path),
        held: 2,
        lost: 1,
        message: expect.stringContaining("mount it again") as string,
      });
      expect(sink.names(clusters)).toEqual(["x", "y"]);
      expect(sink.outage?.code).toBe("UNAVAILABLE");
      cover({ "y.yaml": "{}", "z.yaml": "{}" });
      expect(await after(next("loaded"))).toMatchObject({ removed: 1 });
      expect(sink.names(clusters)).toEqual(["y", "z"]);
      expect(sink.outage).toBeUndefined();
    },
  );
});
