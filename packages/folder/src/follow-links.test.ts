import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { followLinks } from "./follow-links.ts";

describe("followLinks()", () => {
  it("names each link on the way and the file at the end, as Kubernetes mounts them", async () => {
    const { dir, write, link } = await useFolder({});
    await write({ "..2024/x.yaml": "{}" });
    await link("..data", "..2024");
    await link("x.yaml", "..data/x.yaml");
    const real = await realpath(dir);
    const entries = await followLinks([join(real, "x.yaml")]);
    expect(
      new Map([...entries].map(([directory, names]) => [directory, [...names].sort()])),
    ).toEqual(
      new Map([
        [real, ["..data", "x.yaml"]],
        [join(real, "..2024"), ["x.yaml"]],
      ]),
    );
  });
  it("names the entry where a path without links ends, and stops at what does not exist", async () => {
    const dir = await realpath((await useFolder()).dir);
    expect(await followLinks([join(dir, "a/b")])).toEqual(
      new Map([[join(dir, "a"), new Set(["b"])]]),
    );
  });
  it("ends on a loop of links", async () => {
    const { dir, link } = await useFolder();
    await link("a", "b");
    await link("b", "a");
    const real = await realpath(dir);
    expect((await followLinks([join(real, "a", "x")])).get(real)).toEqual(new Set(["a", "b"]));
  });
});
