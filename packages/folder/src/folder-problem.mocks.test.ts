import { join } from "node:path";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { useFeed } from "../test/use-feed.ts";
import { useFolder } from "../test/use-folder.ts";
import { waitFor } from "../test/wait-for.ts";
import { fileTrouble, formatProblem } from "./folder-problem.ts";

/** Paths that the file system rejects for every user. Permissions would not apply to root. */
const rejected = vi.hoisted(() => new Set<unknown>());
/** Paths on a file system that never answers. */
const hanging = vi.hoisted(() => new Map<unknown, () => void>());
vi.mock(import("node:fs/promises"), async (original) => {
  const actual = await original();
  const check = (path: unknown): void => {
    if (rejected.has(path))
      throw Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
  };
  const readdir = async (...args: Parameters<typeof actual.readdir>) => {
    check(args[0]);
    return actual.readdir(...args);
  };
  const open = async (...args: Parameters<typeof actual.open>) => {
    check(args[0]);
    hanging.get(args[0])?.();
    if (hanging.has(args[0])) await new Promise(() => undefined);
    return actual.open(...args);
  };
  /** NFS: files of a disk are read without `open`. */
  const statfs = async (...args: Parameters<typeof actual.statfs>) =>
    Object.assign(await actual.statfs(...args), { type: 0x6969 });
  return {
    ...actual,
    readdir: readdir as unknown as typeof actual.readdir,
    open,
    statfs: statfs as unknown as typeof actual.statfs,
  };
});

const reject = (path: string): void => {
  rejected.add(path);
  onTestFinished(() => {
    rejected.delete(path);
  });
};

describe("fileTrouble()", () => {
  it.each([
    ["EACCES", "may not be read by this user (EACCES)", "give it the right to"],
    ["EPERM", "may not be read by this user (EPERM)", "give it the right to"],
    ["ELOOP", "is a symbolic link that leads back to itself (ELOOP)", "fix or remove the link"],
    [
      "EMFILE",
      "cannot be read, because too many files are open (EMFILE)",
      "raise the limit of open files: ulimit -n",
    ],
  ])("says of %s the way out", (code, message, hint) => {
    expect(fileTrouble(Object.assign(new Error(`${code}: raw`), { code }))).toEqual({
      code: "unreadable-file",
      message,
      hint,
    });
  });
  it("never repeats a path", () => {
    const error = new Error("EIO: i/o error, open 'SECRET'");
    expect(fileTrouble(Object.assign(error, { code: "EIO", path: "SECRET" }))).toEqual({
      code: "unreadable-file",
      message: "cannot be read (EIO)",
    });
  });
  it("repeats what it does not know", () => {
    expect(fileTrouble(Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" }))).toEqual({
      code: "unreadable-file",
      message: "EIO: i/o error, read",
    });
    expect(fileTrouble("x")).toEqual({ code: "unreadable-file", message: "x" });
  });
  it("says of a file that may not be read the way out, and keeps the last state until it may", async () => {
    const { dir, write } = await useFolder({ "a/clusters/x.yaml": "{}" });
    const { next } = useFeed({ dir });
    await next("loaded");
    const file = join(dir, "a/clusters/y.yaml");
    reject(file);
    await write({ "a/clusters/y.yaml": "{}" });
    const { problems, serving } = await next("rejected");
    expect({ serving, problems: problems.map(formatProblem) }).toEqual({
      serving: true,
      problems: [`${file}: may not be read by this user (EACCES) (give it the right to)`],
    });
    rejected.delete(file);
    await write({ "a/clusters/y.yaml": "{}" });
    expect(await next("loaded")).toMatchObject({ resources: 2 });
  });
  it("stops at once while a file system does not answer", async () => {
    const { dir, write } = await useFolder({ "a/clusters/x.yaml": "{}" });
    const { next, stop, events } = useFeed({ dir });
    await next("loaded");
    const isOpened = new Promise<void>((resolve) =>
      hanging.set(join(dir, "a/clusters/y.yaml"), resolve),
    );
    await write({ "a/clusters/y.yaml": "{}", "a/clusters/x.yaml": "type: STATIC" });
    await isOpened;
    await stop();
    expect(events.map(({ kind }) => kind)).toEqual(["loaded"]);
  });
  it("says of a folder that may not be read at the start that it is not ready, and loads it as soon as it may be read [S-STREAM-9]", async () => {
    const { dir } = await useFolder({ "a/clusters/x.yaml": "{}" });
    reject(dir);
    const clock = createFakeClock();
    const { next, sink } = useFeed({ dir, clock });
    const { problem } = await next("unreadable");
    expect(formatProblem(problem)).toBe(
      `${dir}: may not be read by this user (EACCES) (give it the right to; it is tried again every second)`,
    );
    expect(sink.transactions).toEqual([]);
    rejected.delete(dir);
    await waitFor(() => clock.pending > 0);
    clock.advance(1_000);
    expect(await next("loaded")).toMatchObject({ resources: 1 });
  });
});
