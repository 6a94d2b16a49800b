import { expect, it, onTestFinished } from "vitest";

import { inline, listOf, listUrl, located, memberUrl } from "../../test/lists.ts";
import { of, resource, scene, T } from "../../test/scene.ts";
import { turn } from "../../test/turn.ts";
import { followList } from "../index.ts";

const file = "file:///etc/x.yaml";

it("requests names of files, and globs of them, from the source of files only [C-NFILE-1]", async () => {
  const { servers, watch } = await scene({ a: ["a"], "file://": ["files"], default: ["rest"] });
  servers.files?.put(T, resource(file, "one"));
  const single = watch(file);
  const glob = watch("file:///etc/*");
  await turn();
  expect([single.now, glob.members]).toEqual(["one", "x.yaml=one"]);
  expect([servers.a?.opened, servers.rest?.opened]).toEqual([0, 0]);
  servers.files?.remove(T, file);
  await turn();
  expect([single.topic.members()[0]?.resource, glob.members]).toEqual([undefined, ""]);
});

it("reads no file without a source of files, and asks no server for it [C-NFILE-7]", async () => {
  const { servers, watch } = await scene({ a: ["a"], default: ["rest"] });
  const single = watch(file);
  const glob = watch("file:///etc/*");
  await turn();
  for (const { topic } of [single, glob])
    expect(topic.stale?.message).toBe(
      "[PERMISSION_DENIED] names of files are not read; add a source with a directory for them",
    );
  expect([servers.a?.opened, servers.rest?.opened]).toEqual([0, 0]);
});

it.each([
  [true, "x.yaml=two"],
  [false, "x.yaml PERMISSION_DENIED"],
])(
  "follows an entry of a list to a file, where a source of files is there: %s [C-NFILE-1] [C-NFILE-7]",
  async (hasFiles, shown) => {
    const { servers, cache } = await scene(hasFiles ? ["a", "file://"] : ["a"]);
    const name = "xdstp://a/acme.v1.FlagCollection/l";
    servers.a?.put(listUrl, {
      name,
      version: "1",
      payload: { typeUrl: listUrl, value: listOf(located(file), inline("own", "on")) },
    });
    servers["file://"]?.put(memberUrl, {
      name: file,
      version: "1",
      payload: { typeUrl: memberUrl, value: Buffer.from("two") },
    });
    const list = followList(cache, memberUrl, { name }, { wake: () => undefined });
    onTestFinished(() => {
      list.close();
    });
    await turn();
    await turn();
    const [first, own] = list.members;
    const value = first?.resource?.payload.value;
    expect(
      `x.yaml${value === undefined ? ` ${String(first?.error?.code)}` : `=${Buffer.from(value).toString()}`}`,
    ).toBe(shown);
    expect(own?.state).toBe("held");
  },
);

it("has no alternative for a file in a list [C-NFILE-1]", async () => {
  const { servers, cache } = await scene(["a", "file://"]);
  const name = "xdstp://a/acme.v1.FlagCollection/l";
  const entry = located(`${file}#alt=xdstp://a/acme.v1.Flag/y`);
  servers.a?.put(listUrl, {
    name,
    version: "1",
    payload: { typeUrl: listUrl, value: listOf(entry) },
  });
  const list = followList(cache, memberUrl, { name }, { wake: () => undefined });
  onTestFinished(() => {
    list.close();
  });
  await turn();
  await turn();
  expect(list.members[0]?.error?.text).toContain("is a file, which has no alternatives");
});

it("rejects an alternative that is a file [C-NFILE-7]", async () => {
  const { watch, servers } = await scene(["a", "file://"]);
  servers["file://"]?.put(T, resource(file, "one"));
  const x = watch(`${of("a", "x")}#alt=${file}`);
  await turn();
  expect(x.topic.stale?.text).toContain("is a file, which only an entry of a list may lead to");
});
