import { XdsError } from "@xdstp/core";
import { ResourceLocatorSchema } from "@xdstp/protos/discovery";
import { messageType } from "@xdstp/resource-types";
import { describe, expect, it } from "vitest";

import { put, shown, T, U } from "../test/scene.ts";
import { createCache, type MessageType, type RawResource } from "./index.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const note: MessageType<{ readonly name: string; readonly text: string }> = {
  typeUrl: T,
  encode: ({ text }) => bytes(text),
  nameOf: ({ name }) => name,
};

describe("put()", () => {
  it("gives equal messages equal versions, whatever the order of their map keys [S-VER-4]", () => {
    const locators = messageType(ResourceLocatorSchema);
    const versions = [
      ["b", "a"],
      ["a", "b"],
    ].map((keys) => {
      const cache = createCache();
      cache.put(locators, {
        name: "n",
        dynamicParameters: Object.fromEntries(keys.map((key) => [key, key])),
      });
      return cache.topic(locators.typeUrl, { name: "n" }).members()[0]?.resource?.version;
    });
    expect(versions[0]).toBe(versions[1]);
    expect(versions[0]).toHaveLength(22);
  });

  it("takes a resource whose payload is encoded, with all that may be said of it", () => {
    const cache = createCache();
    expect(
      cache.put({
        typeUrl: T,
        name: "x",
        value: bytes("1"),
        version: "v",
        ttlMs: 5,
        aliases: ["a"],
        noStore: true,
      }),
    ).toEqual({ revision: 1 });
    const entry = cache.topic(T, { name: "x" }).members()[0];
    expect(entry?.resource).toMatchObject({
      name: "x",
      version: "v",
      ttlMs: 5,
      aliases: ["a"],
      noStore: true,
      payload: { typeUrl: T },
    });
    expect(cache.ready).toBe(true);
  });

  it("takes a message and its type, under its own name or another", () => {
    const cache = createCache();
    cache.put(note, { name: "x", text: "1" });
    cache.put(note, { name: "x", text: "2" }, { name: "y", ttlMs: 5 });
    expect(shown(cache.topic(T, { name: "*" }).members())).toEqual(["x=1", "y=2"]);
    expect(cache.topic(T, { name: "y" }).members()[0]?.resource?.ttlMs).toBe(5);
  });

  it("throws what is rejected, and changes nothing", () => {
    const cache = createCache({
      types: [{ typeUrl: T, validate: () => new XdsError("INVALID_ARGUMENT", "never") }],
    });
    expect(() => cache.put({ typeUrl: T, name: "x", value: bytes("1") })).toThrow(
      "[INVALID_ARGUMENT] never",
    );
    expect(() => cache.put({ typeUrl: U, name: "*", value: bytes("1") })).toThrow(XdsError);
    expect([cache.revision, cache.ready, cache.counters.resources]).toEqual([0, false, 0]);
  });
});

describe("put() without types to guard it", () => {
  it.each([
    ["no name", { typeUrl: T, value: bytes("1") }, `undefined of ${T}: the name is missing`],
    [
      "a name that is not a text",
      { typeUrl: T, name: 5, value: bytes("1") },
      "the name is a number",
    ],
    ["no type URL", { name: "x", value: bytes("1") }, "the type URL is missing"],
    ["no content", { typeUrl: T, name: "x" }, `"x" of ${T}: the value is missing`],
    [
      "content that is not encoded",
      { typeUrl: T, name: "x", value: "foo" },
      "the value is a string",
    ],
  ])("says of %s what is wrong, and changes nothing", (_, resource, reason) => {
    const cache = createCache();
    const error = errorOf(() => cache.put(resource as unknown as RawResource));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(String(error)).toContain(reason);
    expect([cache.revision, cache.counters.resources]).toEqual([0, 0]);
  });
});

describe("remove()", () => {
  it("removes by any spelling, and does nothing where nothing is", () => {
    const cache = createCache();
    cache.commit({ put: [put("xdstp://a/t.T/x")] });
    expect(cache.remove(T, "xdstp://a/t.T/%78")).toEqual({ revision: 2 });
    expect(cache.counters).toMatchObject({ resources: 0, tombstones: 1 });
    expect([cache.remove(T, "nothing"), cache.remove(T, "xdstp://a/t.T/%zz")]).toEqual([
      { revision: 3 },
      { revision: 4 },
    ]);
    expect(cache.counters).toMatchObject({ resources: 0, tombstones: 1 });
  });

  it("says that a name is of another type, and changes nothing; a list goes under the type of its members too [B-TYPE-5] [B-TYPE-6]", () => {
    const cache = createCache();
    const text = `"xdstp://a/t.U/x" of ${T}: the name has the type t.U; remove it under that type`;
    expect(errorOf(() => cache.remove(T, "xdstp://a/t.U/x"))).toMatchObject({
      code: "INVALID_ARGUMENT",
      text,
      context: { typeUrl: T, resource: "xdstp://a/t.U/x" },
    });
    expect(
      errorOf(() =>
        cache.transaction(({ put: write, remove }) => {
          write({ typeUrl: T, name: "x", value: new Uint8Array() });
          remove(T, "xdstp://a/t.U/x");
        }),
      ),
    ).toMatchObject({ text });
    expect([cache.revision, cache.counters.resources]).toEqual([0, 0]);
    expect([
      cache.remove(T, "xdstp://a/t.T/x"),
      cache.remove(T, "xdstp://a/t.TCollection/x"),
    ]).toEqual([{ revision: 1 }, { revision: 2 }]);
  });
});

describe("transaction()", () => {
  it("makes several changes visible at once, under one revision and label", () => {
    const cache = createCache();
    cache.put(note, { name: "old", text: "1" });
    const committed = cache.transaction(
      (writer) => {
        writer.put(note, { name: "x", text: "1" });
        writer.put({ typeUrl: U, name: "x", value: bytes("2") });
        writer.remove(T, "old");
      },
      { label: "release-7" },
    );
    expect(committed).toEqual({ revision: 2 });
    const topics = [T, U].map((typeUrl) => cache.topic(typeUrl, { name: "*" }));
    expect(topics.map((topic) => [topic.head, topic.label, shown(topic.members())])).toEqual([
      [2, "release-7", ["x=1"]],
      [2, "release-7", ["x=2"]],
    ]);
  });

  it("can say that this is all", () => {
    const cache = createCache();
    cache.commit({ put: [put("a"), put("b")] });
    cache.transaction(({ put: write, complete }) => {
      write(note, { name: "c", text: "1" });
      complete(T, { name: "*" });
    });
    expect(shown(cache.topic(T, { name: "*" }).members())).toEqual(["c=1"]);
  });

  it("is all or nothing: a rejection, a name twice and a writer that throws leave everything as it was", () => {
    const cache = createCache();
    cache.put(note, { name: "x", text: "1" });
    expect(() =>
      cache.transaction(({ put: write }) => {
        write(note, { name: "x", text: "2" });
        write(note, { name: "*", text: "2" });
      }),
    ).toThrow("no resource can have this name");
    expect(() =>
      cache.transaction(({ put: write, remove }) => {
        write(note, { name: "x", text: "2" });
        remove(T, "x");
      }),
    ).toThrow("occurs twice");
    expect(() =>
      cache.transaction(({ put: write }) => {
        write(note, { name: "x", text: "2" });
        throw new Error("changed my mind");
      }),
    ).toThrow("changed my mind");
    expect([cache.revision, shown(cache.topic(T, { name: "*" }).members())]).toEqual([1, ["x=1"]]);
  });
});

function errorOf(act: () => unknown): unknown {
  try {
    act();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
}
