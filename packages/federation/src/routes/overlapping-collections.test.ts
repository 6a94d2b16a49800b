import { createCache } from "@xdstp/cache";
import { createFakeClock } from "@xdstp/testing";
import { expect, it, onTestFinished } from "vitest";

import { of, redirect, resource, scene, T } from "../../test/scene.ts";
import { createStoreServer } from "../../test/store-server.ts";
import { turn } from "../../test/turn.ts";
import { createFederation } from "../index.ts";

it("removes once what two collections come without that both cover it [C-GLOB-7]", async () => {
  const { servers, watch } = await scene(["default"]);
  const server = servers.default;
  for (const id of ["d/x", "d/y"]) server?.put(T, resource(of("a", id), id));
  server?.put(T, redirect(of("a", "d/z"), of("a", "w")));
  const [glob, all] = [watch(of("a", "d/*")), watch("*")];
  await turn();
  await turn();
  expect(glob.members).toBe("x=d/x y=d/y");
  server?.sink.commit({
    put: [{ typeUrl: T, resource: redirect(of("a", "d/z"), of("a", "w")) }],
    complete: ["*", of("a", "d/*")].map((name) => ({ typeUrl: T, interest: { name } })),
  });
  expect([glob.members, all.members]).toEqual(["", ""]);
});

it("takes in what comes of a name in the turn in which it is given up by one and taken up by another [C-REDIR-2]", async () => {
  const {
    servers: { a, b },
    watch,
    federation,
  } = await scene(["a", "b"]);
  const [late, end] = [of("a", "late"), of("b", "end")];
  if (b !== undefined) b.silent = true;
  watch(of("a", "x"));
  const first = watch(late);
  a?.put(T, redirect(late, end));
  await turn();
  b?.sink.unavailable({}, undefined);
  a?.put(T, resource(late, "here"));
  void b?.sink.commit({ remove: [{ typeUrl: T, name: end }] });
  a?.put(T, redirect(of("a", "x"), end));
  await turn();
  expect([first.now, federation.traces().map(({ name, state }) => `${name} ${state}`)]).toEqual([
    "here",
    [`${of("a", "x")} missing`],
  ]);
});

it("drops once what a stand-in gave as it is first, and then as leading elsewhere [C-GRPC-6, C-GRPC-11]", async () => {
  const clock = createFakeClock();
  const [first, second] = [createStoreServer("first"), createStoreServer("second")];
  const cache = createCache({ clock, directives: true });
  onTestFinished(() => cache.close());
  cache.addFeed(
    createFederation({ sources: [{ servers: [first, second], authorities: ["a"] }], clock }),
  );
  first.fail("down");
  second.put(T, resource(of("a", "x"), "X"));
  const glob = cache.topic(T, { name: of("a", "*") });
  glob.watch({ wake: () => undefined });
  await turn();
  second.put(T, redirect(of("a", "x"), of("a", "d/y")));
  await turn();
  first.fail(undefined);
  await turn();
  expect([glob.members().map(({ resource: held }) => held), second.isOpen]).toEqual([
    [undefined],
    false,
  ]);
});

it("drops members of a glob with an alternative that led elsewhere by what a stand-in gave [C-ALT-7, C-GRPC-11]", async () => {
  const clock = createFakeClock();
  const [first, second, other] = [
    createStoreServer("first"),
    createStoreServer("second"),
    createStoreServer("other"),
  ];
  const cache = createCache({ clock, directives: true });
  onTestFinished(() => cache.close());
  cache.addFeed(
    createFederation({
      sources: [
        { servers: [first, second], authorities: ["a"] },
        { servers: [other], authorities: ["b"] },
      ],
      clock,
    }),
  );
  first.fail("down");
  second.put(T, redirect(of("a", "ns/x"), of("b", "y")));
  other.put(T, resource(of("b", "y"), "Y"));
  const glob = cache.topic(T, { name: `${of("a", "ns/*")}#alt=${of("b", "ns/*")}` });
  glob.watch({ wake: () => undefined });
  await turn();
  await turn();
  expect(glob.members().map(({ resource: held }) => held?.payload.value.length)).toEqual([1]);
  first.fail(undefined);
  await turn();
  await turn();
  expect([glob.members().map(({ resource: held }) => held), other.wanted]).toEqual([
    [undefined],
    [],
  ]);
});
