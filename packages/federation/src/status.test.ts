import { expect, it } from "vitest";

import { createStoreServer } from "../test/store-server.ts";
import { turn } from "../test/turn.ts";
import { of, resource, scene, T } from "../test/scene.ts";

const names = (rows: readonly { readonly name: string }[]): readonly string[] =>
  rows.map(({ name }) => name);

it("tells the servers of an authority, of opaque names and of all, before anything is asked and after", async () => {
  const {
    federation,
    servers: { a },
    watch,
  } = await scene(["a", "b", "default"]);
  const seen = (): readonly unknown[] =>
    [
      federation.status(),
      federation.status("a"),
      federation.status("other"),
      federation.status(null),
    ].map(names);
  const expected = [["a", "b", "default"], ["a"], ["default"], ["default"]];
  expect(seen()).toEqual(expected);
  a?.put(T, resource(of("a", "x"), "X"));
  watch(of("a", "x"));
  await turn();
  expect(seen()).toEqual(expected);
});

it("tells which of the servers of an authority has failed [C-AUTH-3]", async () => {
  const [first, second] = [createStoreServer("s0"), createStoreServer("s1")];
  const { federation, watch } = await scene([], {
    sources: [{ servers: [first, second], authorities: ["a"] }],
  });
  expect(names(federation.status("b"))).toEqual([]);
  second.put(T, resource(of("a", "x"), "X"));
  const x = watch(of("a", "x"));
  first.fail("away");
  await turn();
  expect([x.now, federation.status("a").map(({ name, failure }) => [name, failure?.text])]).toEqual(
    [
      "X",
      [
        ["s0", "away"],
        ["s1", undefined],
      ],
    ],
  );
});
