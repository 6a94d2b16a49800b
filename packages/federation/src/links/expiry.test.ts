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
  expect([x.now, at("b").held(T), at("b").wanted]).toEqual([`- "${Y}" has not been refreshed within its TTL (C-TTL-4)`, [], [Y]]);
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
