import { join } from "node:path";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { createPatience } from "./pacing.ts";
import { createFolderWatch, type WatchDirectory } from "./folder-watch.ts";

type Listener = Parameters<WatchDirectory>[1];

/** Creates a watch of real directories, whose events and errors come from the test. */
const useWatch = () => {
  const listeners = new Map<string, Listener>();
  const errors = new Map<string, (error: Error) => void>();
  const closed: string[] = [];
  let changes = 0;
  let failure: Error | undefined;
  const watch: WatchDirectory = (directory, listener) => {
    if (failure !== undefined) throw failure;
    listeners.set(directory, listener);
    return {
      on: (_, onError) => errors.set(directory, onError),
      close: () => {
        closed.push(directory);
      },
    };
  };
  const folderWatch = createFolderWatch({
    root: "/",
    patience: createPatience(createFakeClock()),
    onChange: () => changes++,
    watch,
  });
  onTestFinished(folderWatch.close);
  const failWith = (error?: Error): void => {
    failure = error;
  };
  return { ...folderWatch, listeners, errors, closed, changes: () => changes, failWith };
};

describe("createFolderWatch()", () => {
  it("tells of every entry of a directory, and only of the named ones of another", async () => {
    const { dir, write } = await useFolder();
    await write({ "a/x": "", "b/x": "" });
    const { add, listeners, changes } = useWatch();
    expect(await add(join(dir, "a"))).toBe(true);
    expect(await add(join(dir, "b"), new Set(["x"]))).toBe(true);
    listeners.get(join(dir, "a"))?.("change", "anything");
    listeners.get(join(dir, "b"))?.("change", "other");
    expect(changes()).toBe(1);
    listeners.get(join(dir, "b"))?.("change", "x");
    listeners.get(join(dir, "b"))?.("change", null);
    expect(changes()).toBe(3);
  });
  it("watches the whole directory where one call asked for all of it and another for some, until the next round", async () => {
    const { dir } = await useFolder();
    const { add, sweep, listeners, changes } = useWatch();
    await add(dir);
    expect(await add(dir, new Set(["x"]))).toBe(false);
    listeners.get(dir)?.("change", "y");
    expect(changes()).toBe(1);
    sweep();
    await add(dir, new Set(["x"]));
    await add(dir, new Set(["z"]));
    for (const name of ["x", "y", "z"]) listeners.get(dir)?.("change", name);
    expect(changes()).toBe(3);
  });
  it("ends a watch that is not added again", async () => {
    const { dir } = await useFolder();
    const { add, sweep, closed } = useWatch();
    await add(dir);
    sweep();
    await add(dir);
    sweep();
    expect(closed).toEqual([]);
    sweep();
    expect(closed).toEqual([dir]);
  });
  it("watches anew a directory that was replaced by another of the same name", async () => {
    const { dir, move, write } = await useFolder({ "a/x": "" });
    const { add, closed } = useWatch();
    await add(join(dir, "a"));
    await move("a", "old");
    await write({ "a/x": "" });
    expect(await add(join(dir, "a"))).toBe(true);
    expect(closed).toEqual([join(dir, "a")]);
  });
  it("watches anew after an error of a watch, which counts as a change", async () => {
    const { dir } = await useFolder();
    const { add, errors, changes } = useWatch();
    await add(dir);
    errors.get(dir)?.(new Error("gone"));
    expect(changes()).toBe(1);
    expect(await add(dir)).toBe(true);
  });
  it("gives the reason why a directory cannot be watched, until it can", async () => {
    const { dir } = await useFolder();
    const { add, sweep, failWith } = useWatch();
    const error = Object.assign(new Error("no watches left"), { code: "ENOSPC" });
    failWith(error);
    expect(await add(dir)).toBe(false);
    expect(sweep()).toBe(error);
    failWith();
    await add(dir);
    expect(sweep()).toBeUndefined();
  });
  it("finds a directory that was replaced without a notification, and watches the new one when it is added", async () => {
    const { dir, move, write } = await useFolder({ "a/x": "", "b/x": "" });
    const { add, check, closed, changes } = useWatch();
    await add(join(dir, "a"));
    await add(join(dir, "b"));
    await check();
    expect(changes()).toBe(0);
    await move("a", "old");
    await write({ "a/x": "" });
    await check();
    await check();
    expect([changes(), closed]).toEqual([1, [join(dir, "a")]]);
    expect(await add(join(dir, "a"))).toBe(true);
  });
  it("checks each of many directories in turn", async () => {
    const names = Array.from({ length: 300 }, (_, i) => `d${i}`);
    const { dir, move, write } = await useFolder(
      Object.fromEntries(names.map((name) => [`${name}/x`, ""])),
    );
    const { add, check, changes } = useWatch();
    for (const name of names) await add(join(dir, name));
    await move("d299", "old");
    await write({ "d299/x": "" });
    await check();
    expect(changes()).toBe(0);
    await check();
    expect(changes()).toBe(1);
  });
  it("leaves out a directory that does not exist", async () => {
    const { dir } = await useFolder();
    const { add, sweep } = useWatch();
    expect(await add(join(dir, "nothing"))).toBe(false);
    expect(sweep()).toBeUndefined();
  });
});
