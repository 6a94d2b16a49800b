import { createCache } from "@xdstp/cache";
import { createFakeClock } from "@xdstp/testing";
import { expect, it, onTestFinished } from "vitest";

import { of, redirect, resource, scene, T } from "../test/scene.ts";
import { createStoreServer } from "../test/store-server.ts";
import { turn } from "../test/turn.ts";
import { createFederation } from "./index.ts";

it("lets a wildcard cover what its source answers for, and nothing that others are asked for [C-AUTH-6, C-AUTH-7]", async () => {
  const clock = createFakeClock();
  const [own, other] = [createStoreServer("own"), createStoreServer("other")];
  const federation = createFederation({
    clock,
    sources: [
      { servers: [own] },
      { servers: [own], authorities: ["a"] },
      { servers: [own, other], authorities: ["b"] },
      { servers: [other], authorities: ["c"] },
    ],
  });
  expect(
    ["o", of("a", "x"), of("b", "x"), of("c", "x"), of("unlisted", "x")].map((name) =>
      federation.inWildcard(name),
    ),
  ).toEqual([true, true, false, false, true]);
  const cache = createCache({
    clock,
    directives: true,
    wildcard: (_, name) => federation.inWildcard(name),
  });
  onTestFinished(() => cache.close());
  cache.addFeed(federation);
  for (const name of [of("b", "x"), of("a", "x"), "o"]) own.put(T, resource(name, name));
  other.put(T, resource(of("c", "x"), "C"));
  const watcher = { wake: () => undefined };
  const all = cache.topic(T, { name: "*" });
  for (const topic of [
    all,
    cache.topic(T, { name: of("b", "x") }),
    cache.topic(T, { name: of("c", "x") }),
  ])
    topic.watch(watcher);
  await turn();
  expect(
    all
      .members()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["o", of("a", "x")]);
});

it("covers no names of unlisted authorities where opaque names have a source of their own, unless it is the default too [C-AUTH-6]", () => {
  const [own, other] = [createStoreServer("own"), createStoreServer("other")];
  const coversUnlisted = (standard: typeof own): boolean =>
    createFederation({
      sources: [{ servers: [own], opaque: true }, { servers: [standard] }],
    }).inWildcard(of("unlisted", "x"));
  expect([coversUnlisted(other), coversUnlisted(own)]).toEqual([false, true]);
});

it("says what is wrong with a name that leads nowhere to those also who ask for it later [C-REDIR-4]", async () => {
  const {
    servers: { a },
    watch,
  } = await scene(["a"]);
  const glob = watch(of("a", "*"));
  a?.put(T, redirect(of("a", "x"), of("a", "d/y")));
  a?.put(T, resource(of("a", "d/y"), "X"));
  await turn();
  await turn();
  a?.put(T, redirect(of("a", "d/y"), of("a", "x")));
  await turn();
  const x = watch(of("a", "x"));
  await turn();
  expect([glob.topic.stale?.text, x.now]).toEqual([
    expect.stringContaining("circle"),
    expect.stringMatching(/^X \(.*circle/),
  ]);
});
