import { expect, it } from "vitest";

import { LIST, listNamed, of, redirect, resource, scene, T } from "../../test/scene.ts";
import { turn } from "../../test/turn.ts";

it("delivers what a redirect leads to under the name that was asked for, by its own authority [C-REDIR-1, C-REDIR-3]", async () => {
  const { at, watch } = await scene(["a", "b"]);
  at("a").put(T, redirect(of("a", "x"), of("b", "y")));
  at("b").put(T, resource(of("b", "y"), "Y"));
  const x = watch(of("a", "x"));
  await turn();
  expect([x.now, at("a").wanted, at("b").wanted]).toEqual(["Y", [of("a", "x")], [of("b", "y")]]);
});

it("follows a redirect as it changes, ends and goes [C-REDIR-2]", async () => {
  const { at, watch } = await scene(["a", "b"]);
  at("b").put(T, resource(of("b", "y"), "Y"));
  at("b").put(T, resource(of("b", "z"), "Z"));
  at("a").put(T, resource(of("a", "x"), "real"));
  const x = watch(of("a", "x"));
  const steps = async (): Promise<unknown> => {
    await turn();
    return [x.now, at("b").wanted];
  };
  expect(await steps()).toEqual(["real", []]);
  at("a").put(T, redirect(of("a", "x"), of("b", "y")));
  expect(x.now).toBe("real");
  expect(await steps()).toEqual(["Y", [of("b", "y")]]);
  at("a").put(T, redirect(of("a", "x"), of("b", "z")));
  expect(x.now).toBe("Y");
  expect(await steps()).toEqual(["Z", [of("b", "z")]]);
  at("b").put(T, resource(of("b", "z"), "Z2"));
  expect(x.now).toBe("Z2");
  at("a").put(T, resource(of("a", "x"), "real again"));
  expect(x.now).toBe("real again");
  expect(await steps()).toEqual(["real again", []]);
  at("a").put(T, redirect(of("a", "x"), of("b", "y")));
  expect(await steps()).toEqual(["Y", [of("b", "y")]]);
  at("a").remove(T, of("a", "x"));
  expect(x.now).toBe("-");
  expect(await steps()).toEqual(["-", []]);
});

it("tells of an unknown authority, and of what the target's server says [C-REDIR-3]", async () => {
  const { at, watch } = await scene(["a", "b"]);
  at("a").put(T, redirect(of("a", "x"), of("none", "y")));
  at("a").put(T, redirect(of("a", "gone"), of("b", "gone")));
  const [x, gone] = [watch(of("a", "x")), watch(of("a", "gone"))];
  await turn();
  expect(x.now).toBe(
    `- ${of("a", "x")} -> ${of("none", "y")}: no server is configured for the authority "none"; known: "a", "b"; add a source for it`,
  );
  expect(gone.now).toContain("does not exist");
  expect(at("a").answers.flatMap(({ rejected = [] }) => rejected)).toEqual([]);
});

it("goes five hops and no more, says where a circle is, ACKs it all, and tries again when a hop changes [C-REDIR-4]", async () => {
  const { at, watch } = await scene(["a", "b"]);
  for (let hop = 1; hop <= 6; hop++)
    at(hop % 2 === 0 ? "a" : "b").put(
      T,
      redirect(
        of(hop % 2 === 0 ? "a" : "b", `${hop}`),
        of(hop % 2 === 0 ? "b" : "a", `${hop + 1}`),
      ),
    );
  at("b").put(T, resource(of("b", "7"), "seven"));
  const [six, five] = [watch(of("b", "1")), watch(of("a", "2"))];
  await turn();
  await turn();
  expect([six.now, five.now]).toEqual([expect.stringContaining("more than 5 redirects"), "seven"]);
  at("b").put(T, resource(of("b", "5"), "shortcut"));
  expect(six.now).toBe("shortcut");

  at("a").put(T, redirect(of("a", "loop"), of("b", "loop")));
  at("b").put(T, redirect(of("b", "loop"), of("a", "loop")));
  const loop = watch(of("a", "loop"));
  await turn();
  await turn();
  expect(loop.now).toBe(
    `- ${of("a", "loop")} -> ${of("b", "loop")} -> ${of("a", "loop")}: the redirects go in a circle`,
  );
  expect([...at("a").answers, ...at("b").answers].flatMap(({ rejected = [] }) => rejected)).toEqual(
    [],
  );
  at("b").put(T, resource(of("b", "loop"), "mended"));
  expect(loop.now).toBe("mended");
});

it("tells who asks for a glob of members that lead in a circle, or to nobody; these keep nobody waiting [C-REDIR-3, C-REDIR-4]", async () => {
  const { at, watch } = await scene(["a"]);
  at("a").put(T, redirect(of("a", "ns/m"), of("a", "ns/n")));
  at("a").put(T, redirect(of("a", "ns/n"), of("a", "ns/m")));
  const glob = watch(of("a", "ns/*"));
  await turn();
  expect([glob.topic.settled, glob.members, glob.topic.stale?.text]).toEqual([
    true,
    "",
    `${of("a", "ns/m")} -> ${of("a", "ns/n")} -> ${of("a", "ns/m")}: the redirects go in a circle`,
  ]);
  at("a").put(T, resource(of("a", "ns/n"), "n"));
  expect([glob.members, glob.topic.stale]).toEqual(["m=n n=n", undefined]);
  at("a").put(T, redirect(of("a", "ns/o"), of("none", "o")));
  expect([glob.members, glob.topic.stale?.text]).toEqual([
    "m=n n=n",
    expect.stringContaining('no server is configured for the authority "none"'),
  ]);
  at("a").remove(T, of("a", "ns/o"));
  expect(glob.topic.stale).toBeUndefined();
});

it("keeps what it showed when a redirect comes to lead nowhere, with the error beside it [C-REDIR-4]", async () => {
  const { at, watch } = await scene(["a", "b"]);
  at("b").put(T, resource(of("b", "y"), "Y"));
  at("a").put(T, redirect(of("a", "x"), of("b", "y")));
  const x = watch(of("a", "x"));
  await turn();
  at("b").put(T, redirect(of("b", "y"), of("a", "x")));
  expect(x.now).toBe(
    `Y (${of("a", "x")} -> ${of("b", "y")} -> ${of("a", "x")}: the redirects go in a circle)`,
  );
  at("b").put(T, resource(of("b", "y"), "Y2"));
  expect(x.now).toBe("Y2");
  at("a").put(T, resource(of("a", "x"), "real"));
  at("a").put(T, redirect(of("a", "x"), of("none", "y")));
  expect(x.now).toContain("real (");
  at("a").put(T, redirect(of("a", "x"), of("b", "y")));
  await turn();
  expect(x.now).toBe("Y2");
});

it.each([
  ["another type", "xdstp://b/t.U/y", "has the type t.U; it has to be t.T"],
  ["a glob", "xdstp://b/t.T/ns/*", "its target is a glob"],
  [
    "an alternative of another type",
    "xdstp://b/t.T/y#alt=xdstp://b/t.U/y",
    "its alternative xdstp://b/t.U/y has the type t.U; it has to be t.T",
  ],
  ["a file", "file:///etc/y", "is a file, which only an entry of a list may lead to; use xdstp"],
  ["plain HTTP", "http://b/t.T/y", "has the scheme http, which no feed supports yet; use xdstp"],
])(
  "rejects a redirect to %s, and what is held stays [C-REDIR-5, C-REDIR-6, C-REDIR-8]",
  async (_, to, why) => {
    const { at, watch } = await scene(["a", "b"]);
    at("a").put(T, resource(of("a", "x"), "real"));
    const x = watch(of("a", "x"));
    await turn();
    at("a").put(T, redirect(of("a", "x"), to));
    expect(at("a").answers.at(-1)?.rejected).toEqual([
      expect.objectContaining({
        name: of("a", "x"),
        error: expect.objectContaining({ text: expect.stringContaining(why) as string }) as object,
      }),
    ]);
    expect([x.now, at("b").opened]).toEqual(["real", 0]);
  },
);

it("follows what leads to an entry, or to a locator with an alternative [C-REDIR-5]", async () => {
  const { at, watch } = await scene(["a", "b"]);
  at("a").put(T, redirect(of("a", "x"), "xdstp://b/t.TCollection/all#entry=one"));
  at("a").put(T, redirect(of("a", "z"), `xdstp://b/t.T/z#alt=${of("a", "other")}`));
  at("a").put(T, resource(of("a", "other"), "O"));
  at("b").put(LIST, listNamed("xdstp://b/t.TCollection/all", { one: "1" }));
  const [x, z] = [watch(of("a", "x")), watch(of("a", "z"))];
  await turn();
  expect([x.now, z.now]).toEqual(["1", expect.stringContaining("does not exist")]);
  at("b").fail("b is down");
  const late = watch(of("a", "late"));
  at("a").put(T, redirect(of("a", "late"), `xdstp://b/t.T/late#alt=${of("a", "other")}`));
  await turn();
  await turn();
  expect([x.now, late.now]).toEqual(["1 (b is down)", "O"]);
});

it("follows lists and single members of globs; the members beside them come as they are, and nothing is settled before it is known [C-REDIR-6, B-GLOB-11]", async () => {
  const { at, watch } = await scene(["a", "b"]);
  at("b").silent = true;
  at("a").put(T, resource(of("a", "ns/one"), "1"));
  at("a").put(T, redirect(of("a", "ns/two"), of("b", "two")));
  at("a").put(LIST, redirect("xdstp://a/t.TCollection/all", "xdstp://a/t.TCollection/most"));
  at("a").put(LIST, listNamed("xdstp://a/t.TCollection/most", { one: "1" }));
  const [glob, list] = [watch(of("a", "ns/*")), watch("xdstp://a/t.TCollection/all", LIST)];
  await turn();
  await turn();
  expect([glob.members, glob.topic.settled, list.topic.settled]).toEqual(["one=1", false, true]);
  at("b").silent = false;
  at("b").put(T, resource(of("b", "two"), "2"));
  expect([glob.members, glob.topic.settled, list.version]).toEqual([
    "one=1 two=2",
    true,
    expect.any(String),
  ]);
  at("a").remove(T, of("a", "ns/two"));
  await turn();
  expect([glob.members, at("b").wanted]).toEqual(["one=1", []]);
});

it("drops nothing early when a server says again all that a glob has, and what is not in it at once [B-GLOB-11]", async () => {
  const { at, watch } = await scene(["a", "b"]);
  at("b").put(T, resource(of("b", "two"), "2"));
  at("a").put(T, resource(of("a", "ns/one"), "1"));
  at("a").put(T, redirect(of("a", "ns/two"), of("b", "two")));
  const glob = watch(of("a", "ns/*"));
  await turn();
  expect(glob.members).toBe("one=1 two=2");
  const complete = [{ typeUrl: T, interest: { name: of("a", "ns/*") } }];
  void at("a").sink.commit({
    put: [{ typeUrl: T, resource: redirect(of("a", "ns/two"), of("b", "two")) }],
    complete,
  });
  expect(glob.members).toBe("two=2");
  void at("a").sink.commit({
    put: [{ typeUrl: T, resource: resource(of("a", "ns/three"), "3") }],
    complete,
  });
  expect(glob.members).toBe("three=3");
});

it("asks once for one target of several names, each of which has a version of its own [S-REDIR-7, S-VER-4]", async () => {
  const { at, watch } = await scene(["a", "b"]);
  for (const id of ["one", "two"]) at("a").put(T, redirect(of("a", id), of("b", "y"), "1"));
  at("b").put(T, resource(of("b", "y"), "Y", "1"));
  at("b").put(T, resource(of("b", "z"), "Z", "1"));
  const [one, two] = [watch(of("a", "one")), watch(of("a", "two"))];
  await turn();
  expect([
    one.now,
    two.now,
    at("b").wanted,
    one.version === two.version,
    one.version === "1",
  ]).toEqual(["Y", "Y", [of("b", "y")], false, false]);
  const before = one.version;
  at("a").put(T, redirect(of("a", "one"), of("b", "z"), "2"));
  await turn();
  expect([one.now, one.version === before, two.now]).toEqual(["Z", false, "Y"]);
  at("a").put(T, redirect(of("a", "one"), of("b", "y"), "1"));
  await turn();
  expect([one.now, one.version]).toEqual(["Y", before]);
  one.close();
  await turn();
  expect([two.now, at("b").wanted]).toEqual(["Y", [of("b", "y")]]);
});

it("follows what has an opaque name, and what comes by the wildcard [C-REDIR-1]", async () => {
  const { at, watch } = await scene(["default", "b"]);
  at("default").put(T, redirect("opaque", of("b", "y")));
  at("default").put(T, resource("plain", "P"));
  at("b").put(T, resource(of("b", "y"), "Y"));
  const all = watch("*");
  await turn();
  expect([all.members, all.topic.settled]).toEqual(["opaque=Y plain=P", true]);
  const one = watch("opaque");
  await turn();
  expect([one.now, at("b").wanted]).toEqual(["Y", [of("b", "y")]]);
  all.close();
  await turn();
  expect([one.now, at("default").wanted]).toEqual(["Y", ["opaque"]]);
});

it("hands redirects on as they are where they are not followed [C-REDIR-1]", async () => {
  const { at, watch } = await scene(["a", "b"], { follow: false });
  at("a").put(T, redirect(of("a", "x"), of("b", "y")));
  const x = watch(of("a", "x"));
  await turn();
  expect([x.topic.members()[0]?.resource?.payload.typeUrl, at("b").opened]).toEqual([
    "type.googleapis.com/xds.core.v3.ResourceLocator",
    0,
  ]);
});

it("looks at 32 names on the way to one, however often alternatives lead to the same ones [C-LIM-7]", async () => {
  const { at, watch } = await scene(["a"]);
  const level = (depth: number): readonly string[] =>
    Array.from({ length: 6 }, (_, n) => of("a", `${depth}-${n}`));
  const either = (names: readonly string[]): string =>
    names.reduceRight((inner, name) => `${name}#alt=${encodeURIComponent(inner)}`);
  for (let depth = 0; depth < 5; depth++)
    for (const name of level(depth)) at("a").put(T, redirect(name, either(level(depth + 1))));
  const x = watch(of("a", "0-0"));
  await turn();
  for (let round = 0; round < 8; round++) {
    for (const name of at("a").wanted.filter((one) => level(5).includes(one)))
      at("a").late(T, name);
    await turn();
  }
  expect([
    x.now.includes("more than 32 names would have to be asked for"),
    x.now.length < 4_000,
  ]).toEqual([true, true]);
});

it("shows where each name leads [C-ALT-6]", async () => {
  const { at, watch, federation } = await scene(["a", "b"]);
  at("a").put(T, redirect(of("a", "x"), of("b", "y")));
  at("b").put(T, resource(of("b", "y"), "Y"));
  watch(of("a", "x"));
  await turn();
  expect(federation.traces()).toEqual([
    {
      typeUrl: T,
      name: of("a", "x"),
      state: "held",
      hops: [{ kind: "redirect", to: of("b", "y") }],
    },
  ]);
});
