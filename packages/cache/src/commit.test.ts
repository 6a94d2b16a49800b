import { XdsError, type ResourceType } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { createFeed, createWatcher, put, show, shown, T, U } from "../test/scene.ts";
import { createCache } from "./index.ts";

const picky: ResourceType = {
  typeUrl: T,
  validate: ({ payload }) =>
    payload.value[0] === 33 ? new XdsError("INVALID_ARGUMENT", "begins with !") : undefined,
};
const names = (cache: ReturnType<typeof createCache>, typeUrl = T): readonly string[] =>
  cache.topic(typeUrl, { name: "*" }).members().map(show);

describe("commit()", () => {
  it("gives each transaction a revision of its own, over all types", () => {
    const cache = createCache();
    expect(cache.revision).toBe(0);
    const revisions = [
      {},
      { put: [put("x"), put("x", "1", { typeUrl: U })] },
      { remove: [{ typeUrl: T, name: "nothing" }] },
    ].map((one) => cache.commit(one));
    expect(revisions).toEqual([{ revision: 1 }, { revision: 2 }, { revision: 3 }]);
    expect([cache.topic(T, { name: "x" }).head, cache.topic(U, { name: "x" }).head]).toEqual([
      2, 2,
    ]);
  });

  it.each([
    ["put twice", { put: [put("x"), put("x", "2")] }],
    ["put in two spellings", { put: [put("xdstp://a/t.T/%61"), put("xdstp://a/t.T/a")] }],
    [
      "removed twice",
      {
        remove: [
          { typeUrl: T, name: "x" },
          { typeUrl: T, name: "x" },
        ],
      },
    ],
    ["put and removed", { put: [put("x")], remove: [{ typeUrl: T, name: "x" }] }],
    ["put as a link and by name", { put: [put("x"), put("target", "1", { as: "x" })] }],
  ])("throws for a name that is %s, names it, and changes nothing [S-DUP-1]", (_, transaction) => {
    const cache = createCache();
    cache.commit({ put: [put("old")] });
    const error = (() => {
      try {
        cache.commit(transaction);
      } catch (thrown) {
        return thrown;
      }
      return undefined;
    })();
    expect(error).toBeInstanceOf(XdsError);
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", context: { typeUrl: T } });
    expect(String(error)).toMatch(/occurs twice.*leave one of them out/);
    expect([cache.revision, names(cache)]).toEqual([1, ["old=1"]]);
  });

  it("takes the same name for two types", () => {
    const cache = createCache();
    expect(cache.commit({ put: [put("x"), put("x", "2", { typeUrl: U })] })).toEqual({
      revision: 1,
    });
  });

  it("leaves what is rejected as it was and applies the rest [C-ACK-5]", () => {
    const cache = createCache({ types: [picky] });
    cache.commit({ put: [put("a"), put("b")] });
    const { rejected } = cache.commit({ put: [put("a", "!"), put("b", "2"), put("c", "!")] });
    expect(rejected).toMatchObject([
      { typeUrl: T, name: "a", error: { code: "INVALID_ARGUMENT", text: "begins with !" } },
      { name: "c" },
    ]);
    expect([cache.revision, names(cache), cache.counters.rejected]).toEqual([2, ["a=1", "b=2"], 2]);
  });

  it("applies nothing of an atomic transaction of which something is rejected", () => {
    const cache = createCache({ types: [picky] });
    const { revision, rejected } = cache.commit({ put: [put("a"), put("b", "!")], atomic: true });
    expect([revision, rejected?.length, cache.revision, cache.ready, names(cache)]).toEqual([
      0,
      1,
      0,
      false,
      [],
    ]);
    expect(cache.commit({ put: [put("a")], atomic: true })).toEqual({ revision: 1 });
  });

  it("rejects what a check cannot decide because it throws [C-LIM-7]", () => {
    const cache = createCache({
      types: [
        {
          typeUrl: T,
          validate: () => {
            throw new Error("bug");
          },
        },
      ],
    });
    expect(cache.commit({ put: [put("a")] }).rejected).toMatchObject([
      { name: "a", error: { code: "INTERNAL", text: "bug" } },
    ]);
  });

  it.each([
    ["the name of the wildcard [S-WILD-1]", put("*"), "S-WILD-1"],
    ["the name of a glob [N-50]", put("xdstp://a/t.T/*"), "N-50"],
    ["a name that does not parse [N-05]", put("xdstp://a/t.T/%zz"), "percent-encoding"],
    ["a name with a fragment [N-18]", put("xdstp://a/t.T/x#alt=y"), "fragment-in-name"],
    ["a name of another type [B-TYPE-5]", put("xdstp://a/t.U/x"), "B-TYPE-5"],
    ["a name of a foreign authority [S-AUTH-8]", put("xdstp://b/t.T/x"), "S-AUTH-8"],
    [
      "a payload of another type [C-TYPE-4]",
      put("x", "1", { payload: { typeUrl: U, value: new Uint8Array() } }),
      "C-TYPE-4",
    ],
    [
      "a collection under an opaque name [B-TYPE-6]",
      put("x", "1", { payload: { typeUrl: `${T}Collection`, value: new Uint8Array() } }),
      "C-TYPE-4",
    ],
    [
      "an opaque name with a lone surrogate, which UTF-8 cannot encode [N-06]",
      put("x\ud800"),
      "N-06",
    ],
    [
      "an alias with a lone surrogate [N-06]",
      put("x", "1", { aliases: ["ok \u{1F600}", "\udc00"] }),
      "alias",
    ],
    ["a TTL of nothing", put("x", "1", { ttlMs: 0 }), "TTL"],
    ["a TTL that is not a number", put("x", "1", { ttlMs: Number.NaN }), "TTL"],
    ["a TTL of more than 10,000 years", put("x", "1", { ttlMs: 315_576_000_000_001 }), "TTL"],
  ])("rejects %s and says why", (_, bad, reason) => {
    const cache = createCache({ authorities: ["a"] });
    const { rejected } = cache.commit({ put: [bad] });
    expect(rejected).toHaveLength(1);
    expect(rejected?.[0]?.error).toMatchObject({
      code: "INVALID_ARGUMENT",
      context: { typeUrl: T, resource: bad.resource.name },
    });
    const { text = "", context } = rejected?.[0]?.error ?? {};
    expect(`${text} ${context?.rule}`).toContain(reason);
    expect(rejected?.[0]?.error.text).toContain(JSON.stringify(bad.resource.name));
    expect(cache.counters.resources).toBe(0);
  });

  it.each([
    ["no type URL", "", 'type URL ""'],
    [
      "a type URL that is only a message name",
      "acme.v1.Flag",
      "write type.googleapis.com/acme.v1.Flag",
    ],
  ])("rejects %s and shows the right form [B-TYPE-1]", (_, typeUrl, reason) => {
    const { rejected } = createCache().commit({ put: [put("x", "1", { typeUrl })] });
    expect(rejected?.[0]?.error).toMatchObject({
      code: "INVALID_ARGUMENT",
      context: { typeUrl, resource: "x", rule: "B-TYPE-1" },
    });
    expect(rejected?.[0]?.error.text).toContain(reason);
  });

  it.each([
    ["foo", "a string"],
    [undefined, "missing"],
    [null, "null"],
    [{}, "an object"],
  ])("rejects the content %j, which is not encoded, and says what it has to be", (value, what) => {
    const { rejected } = createCache().commit({
      put: [put("x", "1", { payload: { typeUrl: T, value: value as unknown as Uint8Array } })],
    });
    expect(rejected?.[0]?.error.text).toContain(`"x" of ${T}: the value is ${what}`);
    expect(rejected?.[0]?.error.text).toContain("Uint8Array");
  });

  it("takes pairs of surrogates, and names that differ where U+FFFD would make them one [N-06]", () => {
    const cache = createCache();
    const { rejected } = cache.commit({
      put: ["\ud800", "\ud801", "\ufffd", "\u{1F600}"].map((name) => put(name)),
    });
    expect([rejected?.map(({ name }) => name), names(cache)]).toEqual([
      ["\ud800", "\ud801"],
      ["\ufffd=1", "\u{1F600}=1"],
    ]);
  });

  it("takes a TTL of 10,000 years", () => {
    expect(createCache().commit({ put: [put("x", "1", { ttlMs: 315_576_000_000_000 })] })).toEqual({
      revision: 1,
    });
  });

  it("shows the authorities that it answers for, if it was told them [S-AUTH-8]", () => {
    const authorities = ["a", "c"];
    const cache = createCache({ authorities });
    authorities.push("d");
    expect([cache.authorities, createCache().authorities]).toEqual([["a", "c"], undefined]);
  });

  it("says of a foreign authority which ones it answers for [S-AUTH-8]", () => {
    const { rejected } = createCache({ authorities: ["a", "c"] }).commit({
      put: [put("xdstp://b/t.T/x")],
    });
    expect(rejected?.[0]?.error).toMatchObject({
      code: "INVALID_ARGUMENT",
      context: { typeUrl: T, resource: "xdstp://b/t.T/x" },
    });
    expect(rejected?.[0]?.error.text).toContain('this cache answers for "a", "c" only');
  });

  it("takes a redirect in place of the payload [C-REDIR-1]", () => {
    const cache = createCache();
    const redirect = {
      typeUrl: "type.googleapis.com/xds.core.v3.ResourceLocator",
      value: Uint8Array.of(1),
    };
    expect(cache.commit({ put: [put("x", "1", { payload: redirect })] })).toEqual({ revision: 1 });
    expect(cache.topic(T, { name: "x" }).members()[0]?.resource?.payload).toEqual(redirect);
  });

  it("takes any type, known or not [B-STREAM-4]", () => {
    const cache = createCache({ types: [picky] });
    const odd = "made.up/Type";
    expect([
      cache.serves(odd),
      cache.serves(T),
      cache.descriptor(T),
      cache.descriptor(odd),
    ]).toEqual([false, true, picky, undefined]);
    cache.commit({ put: [put("x", "1", { typeUrl: odd })] });
    cache.commit({ remove: [{ typeUrl: odd, name: "x" }] });
    expect(cache.serves(odd)).toBe(true);
  });

  it("files a link under the name that was asked, with the resource of the target", () => {
    const cache = createCache();
    cache.commit({ put: [put("target", "1", { as: "asked" })] });
    const entry = cache.topic(T, { name: "asked" }).members()[0];
    expect([entry?.name, entry?.resource?.name]).toEqual(["asked", "target"]);
    expect(shown(cache.topic(T, { name: "target" }).members())).toEqual(["target-"]);
    cache.commit({ put: [put("target2", "1", { as: "asked" })] });
    expect(cache.topic(T, { name: "asked" }).members()[0]?.resource?.name).toBe("target2");
    cache.commit({ remove: [{ typeUrl: T, name: "asked" }] });
    expect(names(cache)).toEqual([]);
  });

  it("takes a name of its own to be filed under for no link: the first spelling stays [N-42]", () => {
    const cache = createCache();
    const [plain, escaped] = ["xdstp://a/t.T/a", "xdstp://a/t.T/%61"];
    cache.commit({ put: [put(plain)] });
    cache.commit({ put: [put(escaped, "2", { as: escaped })] });
    const entry = cache.topic(T, { name: plain }).members()[0];
    expect([entry?.name, entry?.resource?.name]).toEqual([plain, plain]);
  });

  it("keeps the reason of a removal", () => {
    const cache = createCache();
    cache.commit({ put: [put("x")] });
    const error = new XdsError("NOT_FOUND", "deleted by hand");
    cache.commit({ remove: [{ typeUrl: T, name: "x", error }] });
    expect(cache.topic(T, { name: "x" }).members()[0]?.error).toBe(error);
    expect(cache.topic(T, { name: "*" }).removed()[0]?.error).toBe(error);
  });

  it("tells the label of the transaction that moved a topic last", () => {
    const cache = createCache();
    const [x, glob, star] = ["x", "xdstp://a/t.T/*", "*"].map((name) => cache.topic(T, { name }));
    for (const topic of [x, glob]) topic?.watch(createWatcher());
    cache.commit({ put: [put("x"), put("xdstp://a/t.T/1")], label: "v1" });
    cache.commit({ label: "v2" });
    expect([x?.label, glob?.label, star?.label]).toEqual(["v1", "v1", "v1"]);
    cache.commit({ put: [put("x", "2")] });
    expect([x?.label, glob?.label, star?.label]).toEqual([undefined, "v1", undefined]);
  });

  it("is there at once for readers that a wake sends into another commit", () => {
    const cache = createCache();
    const topic = cache.topic(T, { name: "x" });
    topic.watch(
      createWatcher(() => {
        if (cache.revision === 1) cache.commit({ put: [put("x", "2")] });
      }),
    );
    cache.commit({ put: [put("x", "1")] });
    expect([cache.revision, shown(topic.members())]).toEqual([2, ["x=2"]]);
  });
});

describe("complete", () => {
  it("removes what it covers and does not put, and nothing else [C-FULL-3]", () => {
    const cache = createCache();
    const ns = (id: string): string => `xdstp://a/t.T/ns/${id}`;
    cache.commit({ put: [ns("a"), ns("b"), ns("c?k=v"), "opaque", "o2"].map((name) => put(name)) });
    cache.commit({
      put: [put(ns("b"), "2")],
      complete: [{ typeUrl: T, interest: { name: "xdstp://a/t.T/ns/*" } }],
    });
    expect([...cache.held(T)].map(({ name }) => name)).toEqual([
      ns("b"),
      ns("c?k=v"),
      "opaque",
      "o2",
    ]);
    cache.commit({ complete: [{ typeUrl: T, interest: { name: "opaque" } }] });
    expect([...cache.held(T)].map(({ name }) => name)).toEqual([ns("b"), ns("c?k=v"), "o2"]);
  });

  it("with `*` from one who pushes all covers names with parameters too", () => {
    const cache = createCache();
    cache.commit({ put: [put("x"), put("xdstp://a/t.T/x?k=v")] });
    cache.commit({ put: [put("y")], complete: [{ typeUrl: T, interest: { name: "*" } }] });
    expect([...cache.held(T)].map(({ name }) => name)).toEqual(["y"]);
  });

  it("leaves what is rejected as it was", () => {
    const cache = createCache({ types: [picky] });
    cache.commit({ put: [put("x"), put("y")] });
    cache.commit({ put: [put("x", "!")], complete: [{ typeUrl: T, interest: { name: "*" } }] });
    expect(names(cache)).toEqual(["x=1"]);
  });

  it("of a feed concerns what that feed put", () => {
    const cache = createCache();
    const [one, two] = [createFeed(), createFeed()];
    for (const feed of [one, two]) cache.addFeed(feed);
    const complete = [{ typeUrl: T, interest: { name: "*" } }];
    void one.sink.commit({ put: [put("one")], complete });
    void two.sink.commit({ put: [put("two")], complete });
    expect(names(cache)).toEqual(["one=1", "two=1"]);
    expect([...one.sink.held(T)].map(({ name }) => name)).toEqual(["one"]);
    void one.sink.commit({ complete });
    expect(names(cache)).toEqual(["two=1"]);
  });
});

describe("held()", () => {
  it("lists names and versions by interest [C-RECON-3]", () => {
    const cache = createCache();
    const version = "v";
    cache.commit({
      put: ["xdstp://a/t.T/ns/a", "xdstp://a/t.T/b", "xdstp://a/t.T/b?k=v", "c"].map((name) =>
        put(name, "1", { version }),
      ),
    });
    const held = (name?: string): readonly string[] =>
      [...cache.held(T, name === undefined ? undefined : { name })].map((one) => one.name);
    expect(held()).toHaveLength(4);
    expect(held("xdstp://a/t.T/ns/*")).toEqual(["xdstp://a/t.T/ns/a"]);
    expect(held("xdstp://a/t.T/%62")).toEqual(["xdstp://a/t.T/b"]);
    expect(held("nothing")).toEqual([]);
    expect([...cache.held(T, { name: "c" })]).toEqual([
      { name: "c", version, resource: cache.topic(T, { name: "c" }).get("c")?.resource },
    ]);
    cache.commit({ remove: [{ typeUrl: T, name: "c" }] });
    expect(held("c")).toEqual([]);
  });
});

describe("a watcher that commits when it is woken", () => {
  it("makes a revision of its own, and the first is answered with its own", () => {
    const cache = createCache();
    let nested = 0;
    cache.topic(T, { name: "x" }).watch({
      wake: () => {
        nested = cache.commit({ put: [put("y")] }).revision;
      },
    });
    expect([cache.commit({ put: [put("x")] }).revision, nested, cache.revision]).toEqual([1, 2, 2]);
  });
});

describe("a bug of who made the cache", () => {
  it("surfaces, and keeps nobody from being told of what had been taken", () => {
    const cache = createCache({
      wildcard: (_, name) => {
        if (name === "bad") throw new Error("bug");
        return true;
      },
    });
    const watcher = createWatcher();
    cache.topic(T, { name: "x" }).watch(watcher);
    expect(() => cache.commit({ put: [put("x"), put("bad")], label: "broken" })).toThrow("bug");
    expect(watcher.wakes).toBe(1);
    cache.commit({ put: [put("y")] });
    expect(cache.topic(T, { name: "y" }).label).toBeUndefined();
  });
});

describe("check()", () => {
  it("is asked about what it was registered for, and no longer once it is taken away", () => {
    const cache = createCache();
    const asked: string[] = [];
    const remove = ["x", "xdstp://a/t.T/ns/*", "*"].map((interest) =>
      cache.check(T, { name: interest }, (resource, name) => {
        asked.push(`${interest}: ${name} ${String(resource.payload.value[0])}`);
        return interest === "*" ? undefined : new XdsError("INVALID_ARGUMENT", interest);
      }),
    );
    const transaction = {
      put: [
        put("x"),
        put("y", "1", { as: "z" }),
        put("xdstp://a/t.T/ns/a"),
        put("xdstp://a/t.T/q?k=v"),
        put("x", "1", { typeUrl: U }),
      ],
    };
    const { rejected } = cache.commit(transaction);
    expect(rejected?.map(({ name }) => name)).toEqual(["x", "xdstp://a/t.T/ns/a"]);
    expect(asked).toEqual(["x: x 49", "*: z 49", "xdstp://a/t.T/ns/*: xdstp://a/t.T/ns/a 49"]);
    for (const one of remove) one();
    expect(cache.commit(transaction).rejected).toBeUndefined();
  });

  it("rejects where it throws", () => {
    const cache = createCache();
    cache.check(T, { name: "x" }, () => {
      throw new TypeError("bug");
    });
    expect(cache.commit({ put: [put("x")] }).rejected).toMatchObject([
      { error: { code: "INTERNAL", text: "bug" } },
    ]);
  });
});
