import { expect, it } from "vitest";

import { of, resource, scene, T } from "../../test/scene.ts";
import { turn } from "../../test/turn.ts";

it("does not exist where an alternative is asked for what is missing, and has none either [C-ALT-2]", async () => {
  const { watch } = await scene(["a", "b"], { altOn: "missing" });
  const x = watch(`${of("a", "x")}#alt=${of("b", "x")}`);
  await turn();
  await turn();
  expect([x.topic.settled, x.topic.stale, x.topic.members()[0]?.error?.code]).toEqual([
    true,
    undefined,
    "NOT_FOUND",
  ]);
});

it("goes from the alternative to nothing once the primary says that there is none, when the choice has stood its time [C-ALT-4]", async () => {
  const {
    servers: { a, b },
    watch,
    clock,
  } = await scene(["a", "b"]);
  a?.fail("down");
  b?.put(T, resource(of("b", "x"), "B"));
  const x = watch(`${of("a", "x")}#alt=${of("b", "x")}`);
  await turn();
  await turn();
  a?.fail(undefined);
  await turn();
  expect(x.now).toBe("B");
  clock.advance(5_000);
  await turn();
  expect([x.topic.members()[0]?.resource, b?.wanted]).toEqual([undefined, []]);
});
