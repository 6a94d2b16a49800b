import { describe, expect, it } from "vitest";

import { LIST, listNamed, of, redirect, resource, scene, T } from "../../test/scene.ts";
import { turn } from "../../test/turn.ts";

describe("a server", () => {
  it("is opened with the first that is wanted of it, and closed when nothing has been for 10 s", async () => {
    const { at, watch, pass } = await scene(["a"]);
    expect(at("a").opened).toBe(0);
    const x = watch(of("a", "x"));
    await turn();
    x.close();
    await turn();
    await pass(9_999);
    expect([at("a").isOpen, at("a").wanted]).toEqual([true, []]);
    await pass(1);
    expect(at("a").isOpen).toBe(false);
  });

  it("stays open for what is wanted in time, and is opened anew after that", async () => {
    const { at, watch, pass } = await scene(["a"], { idleMs: 1_000 });
    at("a").put(T, resource(of("a", "x"), "X"));
    watch(of("a", "x")).close();
    const first = watch(of("a", "x"));
    await turn();
    first.close();
    await pass(999);
    const second = watch(of("a", "x"));
    await turn();
    await pass(5_000);
    expect([second.now, at("a").opened]).toEqual(["X", 1]);
    second.close();
    await turn();
    await pass(1_000);
    at("a").put(T, resource(of("a", "x"), "X2"));
    const third = watch(of("a", "x"));
    await turn();
    expect([third.now, at("a").opened]).toEqual(["X2", 2]);
  });

  it("is forgotten to have failed when it is closed", async () => {
    const { at, watch, pass } = await scene(["a"]);
    at("a").fail("a is down");
    const x = watch(of("a", "x"));
    await turn();
    expect(x.now).toBe("- a is down");
    x.close();
    await turn();
    await pass(10_000);
    at("a").fail(undefined);
    at("a").silent = true;
    const again = watch(of("a", "x"));
    await turn();
    expect(again.now).toBe("?");
  });

  it("is known to have failed by who asks it while it lingers", async () => {
    const { at, watch } = await scene(["a"]);
    at("a").fail("a is down");
    const x = watch(of("a", "x"));
    await turn();
    x.close();
    await turn();
    const again = watch(of("a", "y"));
    await turn();
    expect(again.now).toBe("- a is down");
  });

  it("is asked in one go for what is wanted in one turn [C-SUB-10]", async () => {
    const { at, watch } = await scene(["a"]);
    for (const id of ["x", "y", "z"]) at("a").put(T, resource(of("a", id), id));
    for (const id of ["x", "y", "z"]) watch(of("a", id));
    await turn();
    expect(at("a").answers.length).toBe(1);
  });
});

it("leaves nothing behind when all readers have gone: no asks, no followers, no timers, no servers", async () => {
  const { at, watch, pass, federation, clock, cache } = await scene(["a", "b", "c", "default"], {
    resolveAuthority: () => undefined,
  });
  at("a").put(T, { ...redirect(of("a", "x"), of("b", "y")), expireMs: 100_000 });
  at("b").put(T, redirect(of("b", "y"), of("c", "z")));
  at("c").put(T, { ...resource(of("c", "z"), "Z"), expireMs: 100_000 });
  at("a").put(T, redirect(of("a", "ns/x"), of("c", "z")));
  at("a").put(T, redirect(of("a", "loop"), of("b", "loop")));
  at("b").put(T, redirect(of("b", "loop"), of("a", "loop")));
  at("default").put(T, redirect("opaque", of("c", "z")));
  at("b").put(LIST, listNamed("xdstp://b/t.TCollection/all", { one: "1" }));
  const names = [
    of("a", "x"),
    of("b", "y"),
    of("a", "ns/*"),
    of("a", "loop"),
    "*",
    "opaque",
    of("none", "x"),
    "xdstp://b/t.TCollection/all#entry=one",
    `${of("a", "none")}#alt=${of("c", "z")}`,
    `${of("a", "ns/*")}#alt=${of("b", "ns/*")}`,
    `${of("none", "ns/*")}#alt=${of("b", "ns/*")}`,
    `${of("a", "x")}#alt=xdstp://b/t.U/x`,
  ];
  for (const order of [names, names.toReversed()]) {
    const watched = order.map((name) => watch(name));
    for (let turns = 0; turns < 4; turns++) await turn();
    at("b").fail("b is down");
    at("c").fail("c is down");
    for (let turns = 0; turns < 4; turns++) await turn();
    at("b").fail(undefined);
    at("c").fail(undefined);
    for (const one of watched) {
      one.close();
      await turn();
    }
    await turn();
    expect(["a", "b", "c", "default"].map((id) => at(id).wanted)).toEqual([[], [], [], []]);
    await pass(10_000);
    expect(["a", "b", "c", "default"].filter((id) => at(id).isOpen)).toEqual([]);
    expect([
      federation.traces(),
      clock.pending,
      cache.counters.resources,
      cache.counters.topics,
    ]).toEqual([[], 0, 0, 0]);
    for (const [index, name] of order.entries())
      expect([name, watched[index]?.topic.stale]).toEqual([name, undefined]);
  }
});

it("ends with all that it has begun", async () => {
  const { at, watch, clock, cache } = await scene(["a", "b", "c"]);
  at("a").put(T, { ...redirect(of("a", "x"), of("b", "y")), expireMs: 100_000 });
  at("b").put(T, { ...resource(of("b", "y"), "Y"), expireMs: 100_000 });
  at("c").fail("c is down");
  for (const name of [
    of("a", "x"),
    `${of("c", "x")}#alt=${of("b", "y")}`,
    `${of("c", "ns/*")}#alt=${of("b", "ns/*")}`,
  ])
    watch(name);
  await turn();
  await turn();
  await cache.close();
  await turn();
  expect([clock.pending, ["a", "b", "c"].map((id) => at(id).isOpen)]).toEqual([
    0,
    [false, false, false],
  ]);
});
