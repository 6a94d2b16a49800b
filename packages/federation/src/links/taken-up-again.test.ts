import { XdsError } from "@xdstp/core";
import { expect, it } from "vitest";

import { of, redirect, resource, scene, T } from "../../test/scene.ts";
import { turn } from "../../test/turn.ts";

it("asks anew for a name that is given up and taken up again in one turn, since what was known of it has gone [C-DSUB-4]", async () => {
  const {
    servers: { a, b },
    watch,
  } = await scene(["a", "b"]);
  b?.put(T, resource(of("b", "y"), "Y"));
  const y = watch(of("b", "y"));
  await turn();
  a?.put(T, redirect(of("a", "x"), of("b", "y")));
  y.close();
  const x = watch(`${of("b", "y")}#alt=${of("a", "x")}`);
  await turn();
  await turn();
  expect(x.now).toBe("Y");
});

it("removes what a member led to, when the collection comes without it [C-REDIR-2]", async () => {
  const {
    servers: { a },
    watch,
  } = await scene(["a"]);
  a?.put(T, redirect(of("a", "x"), of("a", "d/y")));
  a?.put(T, resource(of("a", "d/y"), "Y"));
  const glob = watch(of("a", "*"));
  await turn();
  await turn();
  expect(glob.members).toBe("x=Y");
  a?.sink.commit({ complete: [{ typeUrl: T, interest: { name: of("a", "*") } }] });
  await turn();
  expect(glob.members).toBe("");
});

it("does not take a name that leads elsewhere for one that does not exist, when a collection with it is asked for too [C-REDIR-1]", async () => {
  const {
    servers: { a },
    watch,
  } = await scene(["a"]);
  a?.put(T, resource(of("a", "d/z"), "Z"));
  const x = watch(of("a", "x"));
  await turn();
  const other = watch(`${of("a", "x")}#alt=${of("a", "d/w")}`);
  await turn();
  other.close();
  await turn();
  a?.put(T, redirect(of("a", "x"), of("a", "d/z")));
  watch(`${of("a", "x")}#alt=${of("a", "d/v")}`);
  await turn();
  await turn();
  const glob = watch(of("a", "*"));
  await turn();
  expect([x.now, glob.members]).toEqual(["Z", "x=Z"]);
});

it("knows that a name does not exist of which that came while it could not be had [C-ERR-4]", async () => {
  const {
    servers: { a },
    watch,
  } = await scene(["a"]);
  const [x, y] = [watch(of("a", "x")), watch(of("a", "y"))];
  await turn();
  a?.sink.unavailable(
    { typeUrl: T, interest: { name: of("a", "y") } },
    new XdsError("UNAVAILABLE", "it is late"),
  );
  a?.sink.commit({
    put: [{ typeUrl: T, resource: redirect(of("a", "x"), of("a", "y")) }],
    remove: [{ typeUrl: T, name: of("a", "y") }],
  });
  await turn();
  a?.sink.unavailable({ typeUrl: T, interest: { name: of("a", "y") } }, undefined);
  await turn();
  expect([x.topic.settled, x.topic.stale, y.topic.stale]).toEqual([true, undefined, undefined]);
});
