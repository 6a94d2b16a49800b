import { expect, it } from "vitest";

import { of, redirect, resource, scene, T } from "../../test/scene.ts";
import { turn } from "../../test/turn.ts";

const X = of("a", "x");
const Y = of("b", "y");

it("ends what a redirect led to with the time of the target, which each heartbeat begins anew [C-TTL-4]", async () => {
  const { at, watch, pass } = await scene(["a", "b"]);
  at("a").put(T, redirect(X, Y));
  at("b").put(T, { ...resource(Y, "Y"), expireMs: 1_000 });
  const x = watch(X);
  await turn();
  await pass(999);
  void at("b").sink.commit({ refresh: [{ typeUrl: T, name: Y, expireMs: 1_000 }] });
  await pass(999);
  expect([x.now, at("b").held(T)]).toEqual(["Y", [`${Y} Y`]]);
  await pass(1);
  expect([x.now, at("b").held(T), at("b").wanted]).toEqual([
    `- "${Y}" has not been refreshed within its TTL`,
    [],
    [Y],
  ]);
  at("b").put(T, resource(Y, "Y2"));
  await pass(10_000);
  expect(x.now).toBe("Y2");
});

it("takes the time away with a heartbeat or a resource that has none [C-TTL-4]", async () => {
  const { at, watch, pass } = await scene(["a", "b"]);
  at("a").put(T, { ...redirect(X, Y), expireMs: 1_000 });
  at("b").put(T, { ...resource(Y, "Y"), expireMs: 1_000 });
  const x = watch(X);
  await turn();
  void at("a").sink.commit({ refresh: [{ typeUrl: T, name: X }] });
  at("b").put(T, resource(Y, "Y"));
  await pass(10_000);
  expect(x.now).toBe("Y");
});

it("ends a redirect with its own time, as if it had been removed: the subscription stays [C-TTL-4, C-REDIR-2]", async () => {
  const { at, watch, pass } = await scene(["a", "b"]);
  at("a").put(T, { ...redirect(X, Y), expireMs: 1_000 });
  at("b").put(T, resource(Y, "Y"));
  const x = watch(X);
  await turn();
  await pass(999);
  void at("a").sink.commit({ refresh: [{ typeUrl: T, name: X, expireMs: 1_000 }] });
  await pass(999);
  expect([x.now, at("a").held(T)]).toEqual(["Y", [`${X} ${Y}`]]);
  await pass(1);
  expect([x.now, at("a").wanted, at("a").held(T), at("b").wanted]).toEqual(["-", [X], [], []]);
  at("a").put(T, redirect(X, Y));
  await turn();
  expect(x.now).toBe("Y");
});

it("runs on while the server cannot be reached; then the alternative is asked [C-TTL-6, C-ALT-2]", async () => {
  const { at, watch, pass } = await scene(["a", "b"]);
  at("a").put(T, { ...resource(X, "X"), expireMs: 1_000 });
  at("b").put(T, resource(Y, "Y"));
  const x = watch(`${X}#alt=${Y}`);
  await turn();
  at("a").fail("a is down");
  await turn();
  expect(x.now).toBe("X (a is down)");
  await pass(1_000);
  await turn();
  expect(x.now).toBe("Y");
});

it("takes what the server has said since then for known [C-ALT-2, C-TTL-4]", async () => {
  const { at, watch, pass } = await scene(["a", "b"]);
  at("a").put(T, { ...resource(X, "X"), expireMs: 1_000 });
  const x = watch(`${X}#alt=${Y}`);
  await turn();
  await pass(1_000);
  at("a").remove(T, X);
  at("a").fail("a is down");
  await turn();
  expect([x.now, at("b").opened]).toEqual([expect.stringContaining("does not exist"), 0]);
});

it("does not begin anew the time of what is delivered with the heartbeat of something else on the way [C-TTL-4]", async () => {
  const { at, watch, pass } = await scene(["a", "b"]);
  at("a").put(T, redirect(X, Y));
  at("b").put(T, { ...resource(Y, "Y"), expireMs: 1_000 });
  const x = watch(X);
  await turn();
  await pass(900);
  void at("a").sink.commit({ refresh: [{ typeUrl: T, name: X, expireMs: 5_000 }] });
  await pass(100);
  expect(x.now).toContain("has not been refreshed");
});

it("ends a redirect on the way of others too, which is not a name that they ask for [C-TTL-4, C-REDIR-2]", async () => {
  const { at, watch, pass } = await scene(["a", "b", "c"]);
  at("a").put(T, redirect(X, Y));
  at("b").put(T, { ...redirect(Y, of("c", "z")), expireMs: 1_000 });
  at("c").put(T, resource(of("c", "z"), "Z"));
  const all = [watch(X), watch(`${Y}#alt=${of("a", "none")}`)];
  await turn();
  await turn();
  expect(all.map(({ now }) => now)).toEqual(["Z", "Z"]);
  await pass(1_000);
  expect([all.map(({ now }) => now), at("c").wanted]).toEqual([
    all.map(() => `- "${Y}" has not been refreshed within its TTL`),
    [],
  ]);
  at("b").put(T, redirect(Y, of("c", "z")));
  await turn();
  expect(all.map(({ now }) => now)).toEqual(["Z", "Z"]);
});

it("ends what is delivered while the server that gave it cannot be reached, and nobody else has it [C-TTL-6]", async () => {
  const { at, watch, pass } = await scene(["a", "b"]);
  for (const id of ["x", "ns/x"]) at("a").put(T, redirect(of("a", id), Y));
  for (const id of ["y", "ns/m"])
    at("b").put(T, { ...resource(of("b", id), "Y"), expireMs: 1_000 });
  const [x, other] = [watch(X), watch(`${Y}#alt=${of("a", "none")}`)];
  const globs = [watch(of("a", "ns/*")), watch(`${of("b", "ns/*")}#alt=${of("a", "none/*")}`)];
  await turn();
  await turn();
  at("b").fail("b is down");
  await turn();
  expect([x.now, other.now, ...globs.map(({ members }) => members)]).toEqual([
    "Y (b is down)",
    "Y (b is down)",
    "x=Y",
    "m=Y",
  ]);
  await pass(1_000);
  await turn();
  expect([x.now, other.now.slice(0, 1), ...globs.map(({ members }) => members)]).toEqual([
    "- b is down",
    "-",
    "",
    "",
  ]);
  at("b").fail(undefined);
  await turn();
  expect([x.now, ...globs.map(({ members }) => members)]).toEqual(["Y", "x=Y", "m=Y"]);
});

it("goes on with the time of what readers had under its own name, also when these have gone [C-TTL-4]", async () => {
  const { at, watch, pass } = await scene(["a", "b"]);
  at("a").put(T, redirect(X, Y));
  at("b").put(T, { ...resource(Y, "Y"), expireMs: 1_000 });
  const y = watch(Y);
  await turn();
  await pass(900);
  const x = watch(X);
  await turn();
  await turn();
  y.close();
  await pass(99);
  expect(x.now).toBe("Y");
  await pass(1);
  expect(x.now).toContain("has not been refreshed");
});

it("goes on with the time of what is followed for who reads it under its own name [C-TTL-4]", async () => {
  const { at, watch, pass } = await scene(["a", "b"]);
  at("a").put(T, redirect(X, Y));
  at("b").put(T, { ...resource(Y, "Y"), expireMs: 1_000 });
  watch(X);
  await turn();
  await turn();
  await pass(900);
  at("b").silent = true;
  const y = watch(Y);
  await turn();
  await pass(99);
  expect(y.now).toBe("Y");
  await pass(1);
  expect(y.now).toBe("-");
});
