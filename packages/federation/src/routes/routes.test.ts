import { describe, expect, it } from "vitest";

import { of, resource, scene, T } from "../../test/scene.ts";
import { createStoreServer, type StoreServer } from "../../test/store-server.ts";
import { turn } from "../../test/turn.ts";
import type { FederationServer, FederationSource } from "../index.ts";

/**
 * Returns the servers that a name is requested from. `sourcesOf` gets the servers `1`, `2` and `3`
 * by index.
 */
async function askedFor(
  name: string,
  sourcesOf: (servers: readonly StoreServer[]) => readonly FederationSource[],
): Promise<readonly string[]> {
  const servers = ["1", "2", "3"].map(createStoreServer);
  const { watch } = await scene({}, { sources: sourcesOf(servers) });
  const watched = watch(name);
  await turn();
  const asked = servers.filter(({ wanted }) => wanted.includes(name)).map(({ id }) => id);
  return watched.topic.stale === undefined ? asked : [...asked, watched.topic.stale.text];
}

const server = (servers: readonly StoreServer[], index: number): StoreServer =>
  servers[index - 1] ?? createStoreServer("none");

describe("who is asked for a name", () => {
  it.each<
    readonly [
      string,
      string,
      readonly string[],
      (servers: readonly StoreServer[]) => readonly FederationSource[],
    ]
  >([
    [
      "the one that lists its authority",
      of("a", "x"),
      ["1"],
      (s) => [{ servers: [server(s, 1)], authorities: ["a"] }, { servers: [server(s, 2)] }],
    ],
    [
      "the first that lists it, wherever the default stands",
      of("a", "x"),
      ["2"],
      (s) => [
        { servers: [server(s, 1)] },
        { servers: [server(s, 2)], authorities: ["b", "a"] },
        { servers: [server(s, 3)], authorities: ["a"] },
      ],
    ],
    [
      "the default, for what nobody lists",
      of("a", "x"),
      ["2"],
      (s) => [{ servers: [server(s, 1)], authorities: ["b"] }, { servers: [server(s, 2)] }],
    ],
    [
      "nobody, without a default",
      of("a", "x"),
      ['no server is configured for the authority "a"; known: "b"; add a source for it'],
      (s) => [{ servers: [server(s, 1)], authorities: ["b"] }],
    ],
    [
      "nobody, where the rest is for opaque names only",
      of("a", "x"),
      ['no server is configured for the authority "a"; known: "b"; add a source for it'],
      (s) => [
        { servers: [server(s, 1)], authorities: ["b"] },
        { servers: [server(s, 2)], opaque: true },
      ],
    ],
    [
      "the default, for an opaque name",
      "x",
      ["2"],
      (s) => [{ servers: [server(s, 1)], authorities: ["a"] }, { servers: [server(s, 2)] }],
    ],
    [
      "the one for opaque names, for these",
      "x",
      ["2"],
      (s) => [
        { servers: [server(s, 1)], authorities: ["a"] },
        { servers: [server(s, 2)], opaque: true },
      ],
    ],
    [
      "nobody, for an opaque name without a default",
      "x",
      ["no source is configured for opaque names; add a source for it"],
      (s) => [{ servers: [server(s, 1)], authorities: ["a"] }],
    ],
  ])("is %s [C-AUTH-1, C-AUTH-5]", async (_, name, expected, sources) => {
    expect(await askedFor(name, sources)).toEqual(expected);
  });

  it.each([
    ["xdstp:///t.T/x", ["1"]],
    ["xdstp://A/t.T/x", ["2"]],
    ["xdstp://a/t.T/x", ["3"]],
    ["xdstp://a:443/t.T/x", ["2"]],
    ["xdstp://b.a/t.T/x", ["2"]],
  ])("compares authorities exactly, the empty one too: %s [C-AUTH-2]", async (name, expected) => {
    expect(
      await askedFor(name, (s) => [
        { servers: [server(s, 1)], authorities: [""] },
        { servers: [server(s, 2)] },
        { servers: [server(s, 3)], authorities: ["a"] },
      ]),
    ).toEqual(expected);
  });

  it("compares them as they are decoded [C-AUTH-2]", async () => {
    expect(
      await askedFor("xdstp://a%2Fb/t.T/x", (s) => [
        { servers: [server(s, 1)], authorities: ["a/b"] },
        { servers: [server(s, 2)] },
      ]),
    ).toEqual(["1"]);
  });

  it("is the default, for the empty authority that nobody lists [C-AUTH-2]", async () => {
    expect(await askedFor("xdstp:///t.T/x", (s) => [{ servers: [server(s, 1)] }])).toEqual(["1"]);
  });

  it("tries several sources of one authority in order, by the rules of fallback [C-AUTH-3]", async () => {
    const servers = ["1", "2", "3"].map(createStoreServer);
    const sources = [
      { servers: [server(servers, 1)], authorities: ["a"] },
      { servers: [server(servers, 3)] },
      { servers: [server(servers, 2), server(servers, 1)], authorities: ["b", "a"] },
    ];
    server(servers, 2).put(T, resource(of("a", "x"), "of 2"));
    server(servers, 1).fail("1 is down");
    const { watch } = await scene({}, { sources });
    const x = watch(of("a", "x"));
    await turn();
    expect([x.now, server(servers, 3).opened]).toEqual(["of 2", 0]);
  });
});

describe("what a server may give", () => {
  it("is of authorities that map to it; the rest is ignored and told [C-AUTH-7]", async () => {
    const { at, watch, events } = await scene(["a", "b", "default"]);
    const [b, all] = [watch(of("b", "x")), watch("*")];
    watch(of("a", "x"));
    at("b").put(T, resource(of("b", "x"), "mine"));
    await turn();
    const put = ["x", "y"].map((id) => ({ typeUrl: T, resource: resource(of("b", id), "forged") }));
    void at("a").sink.commit({
      put: [
        ...put,
        { typeUrl: T, resource: resource("opaque", "forged") },
        { typeUrl: T, resource: resource(of("a", "x"), "of a") },
      ],
    });
    void at("a").sink.commit({ remove: [{ typeUrl: T, name: of("b", "x") }] });
    expect([b.now, all.members, events]).toEqual([
      "mine",
      "",
      [
        {
          kind: "foreign",
          server: "a",
          typeUrl: T,
          names: 3,
          namesHash: expect.any(Number) as number,
        },
      ],
    ]);
  });

  it("is reported with one hash for one set of names, whatever their order [C-AUTH-7]", async () => {
    const { at, watch, events } = await scene(["a", "b"]);
    watch(of("a", "x"));
    await turn();
    const give = (...ids: readonly string[]): void => {
      void at("a").sink.commit({
        put: ids.map((id) => ({ typeUrl: T, resource: resource(of("b", id), "forged") })),
      });
    };
    give("x", "y");
    give("y", "x");
    give("x", "z");
    give("x");
    const [first, again, ...others] = events.map(({ namesHash }) => namesHash);
    expect([again, new Set([first, ...others]).size]).toEqual([first, 3]);
  });

  it("is not an update to an operator where it comes late of a server that has been left [C-AUTH-7, C-GRPC-6]", async () => {
    const { at, watch, events } = await scene({ a: ["1", "2"] });
    at("1").put(T, resource(of("a", "x"), "of 1"));
    at("1").fail("1 is down");
    const x = watch(of("a", "x"));
    await turn();
    const { sink } = at("2");
    at("1").fail(undefined);
    void sink.commit({ put: [{ typeUrl: T, resource: resource(of("a", "x"), "of 2") }] });
    expect([x.now, events]).toEqual(["of 1", []]);
  });

  it("is not a name of another authority, also not by an alias [C-AUTH-7, C-ALIAS-3]", async () => {
    const { at, watch, events } = await scene(["a", "default"]);
    at("a").silent = true;
    const [mine, other] = [watch(of("a", "x")), watch("y")];
    await turn();
    const forged = { ...resource("x", "forged"), aliases: [of("a", "x"), "y"] };
    void at("default").sink.commit({ put: [{ typeUrl: T, resource: forged }] });
    expect([mine.now, other.now, events]).toEqual([
      "?",
      "forged",
      [
        {
          kind: "foreign",
          server: "default",
          typeUrl: T,
          names: 1,
          namesHash: expect.any(Number) as number,
        },
      ],
    ]);
  });

  it("names as many authorities as it likes, and nothing is kept of them [C-LIM-7]", async () => {
    const { at, watch } = await scene(["default"]);
    const all = watch("*");
    await turn();
    for (let n = 0; n < 100; n++) at("default").put(T, resource(of(`a${n}`, "x"), "1"));
    expect(all.members.split(" ").length).toBe(100);
  });
});

describe("servers with equal ids", () => {
  it("are one: two authorities and three types share what is opened [C-AGG-1]", async () => {
    const one = createStoreServer("1");
    const twin: FederationServer = {
      id: one.id,
      name: "written otherwise",
      open: () => {
        throw new Error("never opened");
      },
    };
    const { watch, federation } = await scene(
      {},
      {
        sources: [
          { servers: [one], authorities: ["a"] },
          { servers: [twin], authorities: ["b"] },
          { servers: [one] },
        ],
      },
    );
    const type = (letter: string): string => `type.googleapis.com/t.${letter}`;
    for (const letter of ["T", "U", "V"])
      for (const authority of ["a", "b"]) watch(`xdstp://${authority}/t.${letter}/x`, type(letter));
    watch("opaque");
    await turn();
    expect([one.opened, one.wanted.length, federation.status().length]).toEqual([1, 7, 1]);
  });

  it("are asked once for what two sources ask of them, and fail for all [C-AGG-1, C-GRPC-4]", async () => {
    const { at, watch } = await scene({ a: ["1"], b: ["1", "2"] });
    const [a, b] = [watch(of("a", "x")), watch(of("b", "x"))];
    at("2").put(T, resource(of("b", "x"), "b of 2"));
    at("1").silent = true;
    await turn();
    at("1").fail("1 is down");
    await turn();
    expect([a.now, b.now, at("1").opened]).toEqual(["- 1 is down", "b of 2", 1]);
  });
});
