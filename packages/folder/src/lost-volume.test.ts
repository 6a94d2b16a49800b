import { describe, expect, it } from "vitest";
import { lostVolume, uncoveredVolume } from "./lost-volume.ts";
import type { FoundDirectory } from "./walk-folder.ts";

type Directories = Readonly<Record<string, Partial<FoundDirectory>>>;

const places = (directories: Directories, ...paths: readonly string[]) => ({
  paths,
  directories: new Map(
    Object.entries(directories).map(([path, facts]) => [
      path,
      {
        identity: `1:${path}`,
        device: "1",
        isMount: false,
        isLink: false,
        isEmpty: false,
        ...facts,
      },
    ]),
  ),
});
const mounted = { identity: "2:1", device: "2", isMount: true };
const before = places(
  { "": {}, a: {}, "a/clusters": mounted, "a/listeners": {} },
  "a/clusters/x.yaml",
  "a/listeners/x.yaml",
);

describe("lostVolume()", () => {
  it.each([
    ["a root that holds nothing", places({ "": { isEmpty: true } }), ""],
    [
      "a root that is another directory and has no resources",
      places({ "": { identity: "other" }, a: {} }),
      "",
    ],
    [
      "a directory where another file system is mounted than before, without resources",
      places({ "": {}, a: {}, "a/clusters": { isEmpty: true } }, "a/listeners/x.yaml"),
      "a/clusters",
    ],
    [
      "a mounted directory that is gone",
      places({ "": {}, a: {}, "a/listeners": {} }, "a/listeners/x.yaml"),
      "a/clusters",
    ],
  ])("finds %s", (_, now, path) => {
    expect(lostVolume(before, now)).toBe(path);
  });
  it.each([
    [
      "a root that is another directory and has resources",
      places({ "": { identity: "other" }, a: {}, "a/clusters": mounted }, "a/clusters/y.yaml"),
    ],
    [
      "a directory that is deleted",
      places({ "": {}, a: {}, "a/clusters": mounted }, "a/clusters/x.yaml"),
    ],
    [
      "a directory that is deleted and made again",
      places(
        { "": {}, a: {}, "a/clusters": mounted, "a/listeners": { identity: "new", isEmpty: true } },
        "a/clusters/x.yaml",
      ),
    ],
    [
      "the last file of a volume that is still mounted",
      places(
        { "": {}, a: {}, "a/clusters": { ...mounted, isEmpty: true }, "a/listeners": {} },
        "a/listeners/x.yaml",
      ),
    ],
    [
      "the last file of all, where its directories are still there",
      places({ "": {}, a: {}, "a/clusters": mounted, "a/listeners": {} }),
    ],
  ])("takes as an edit: %s", (_, now) => {
    expect(lostVolume(before, now)).toBeUndefined();
  });
  it("finds an empty root also before anything was loaded", () => {
    expect(lostVolume(undefined, places({ "": { isEmpty: true } }))).toBe("");
    expect(lostVolume(undefined, places({ "": {}, a: {} }))).toBeUndefined();
  });
});

describe("uncoveredVolume()", () => {
  const at = (path: string, mountPoint: string, facts: Directories = { a: {} }) =>
    places({ "": { place: { path, mountPoint } }, ...facts }, "a/clusters/x.yaml");
  const state = at("/v/conf", "/v", { a: {}, "a/clusters": mounted });
  it.each([
    ["the folder", at("/v/conf", "/", { a: {}, "a/clusters": mounted }), ""],
    [
      "a directory in it",
      at("/v/conf", "/v", { a: {}, "a/clusters": { identity: "1:9" } }),
      "a/clusters",
    ],
  ])("finds %s", (_, now, path) => {
    expect(uncoveredVolume(state, now)).toBe(path);
  });
  it.each([
    ["nothing that changed", state],
    [
      "another volume in its place",
      at("/v/conf", "/v", { a: {}, "a/clusters": { ...mounted, device: "3" } }),
    ],
    [
      "a volume that is mounted over it",
      at("/v/conf", "/v/conf", { a: {}, "a/clusters": mounted }),
    ],
    ["a link of the folder that leads elsewhere", at("/w", "/", { a: {}, "a/clusters": mounted })],
    [
      "a link in the place of a volume",
      at("/v/conf", "/v", { a: {}, "a/clusters": { isLink: true } }),
    ],
    ["a directory that is gone", at("/v/conf", "/v")],
    [
      "a root without known mounts",
      places({ "": {}, a: {}, "a/clusters": mounted }, "a/clusters/x.yaml"),
    ],
  ])("takes as an edit: %s", (_, now) => {
    expect(uncoveredVolume(state, now)).toBeUndefined();
  });
  it("finds nothing before anything was loaded", () => {
    expect(uncoveredVolume(undefined, state)).toBeUndefined();
  });
});
