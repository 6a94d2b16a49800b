import { expect, it } from "vitest";

import { of, redirect, resource, scene, T } from "../../test/scene.ts";
import { turn } from "../../test/turn.ts";

it("delivers what a redirect leads to under the name that was asked for, by its own authority [C-REDIR-1, C-REDIR-3]", async () => {
  const { servers: { a, b }, watch } = await scene(["a", "b"]);
  a?.put(T, redirect(of("a", "x"), of("b", "y")));
  b?.put(T, resource(of("b", "y"), "Y"));
  const x = watch(of("a", "x"));
  await turn();
  await turn();
  expect([x.now, a?.wanted, b?.wanted]).toEqual(["Y", [of("a", "x")], [of("b", "y")]]);
});

it("follows a redirect as it changes, ends and goes [C-REDIR-2]", async () => {
  const { servers: { a, b }, watch } = await scene(["a", "b"]);
  b?.put(T, resource(of("b", "y"), "Y"));
  b?.put(T, resource(of("b", "z"), "Z"));
  a?.put(T, resource(of("a", "x"), "real"));
  const x = watch(of("a", "x"));
  const steps = async (): Promise<unknown> => { await turn(); return [x.now, b?.wanted]; };
  expect(await steps()).toEqual(["real", []]);
  a?.put(T, redirect(of("a", "x"), of("b", "y")));
  expect(x.now).toBe("real");
  expect(await steps()).toEqual(["Y", [of("b", "y")]]);
  a?.put(T, redirect(of("a", "x"), of("b", "z")));
  expect(x.now).toBe("Y");
  expect(await steps()).toEqual(["Z", [of("b", "z")]]);
  b?.put(T, resource(of("b", "z"), "Z2"));
  expect(x.now).toBe("Z2");
  a?.put(T, resource(of("a", "x"), "real again"));
  expect(x.now).toBe("real again");
  expect(await steps()).toEqual(["real again", []]);
  a?.put(T, redirect(of("a", "x"), of("b", "y")));
  expect(await steps()).toEqual(["Y", [of("b", "y")]]);
  a?.remove(T, of("a", "x"));
  expect(x.now).toBe("-");
  expect(await steps()).toEqual(["-", []]);
});
