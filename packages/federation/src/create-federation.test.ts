import { createCache } from "@xdstp/cache";
import { createFakeClock } from "@xdstp/testing";
import { expect, it } from "vitest";

import { of, T } from "../test/scene.ts";
import { createStoreServer } from "../test/store-server.ts";
import { turn } from "../test/turn.ts";
import { createFederation } from "./index.ts";

it("asks nobody for what is wanted in the turn in which it ends, nor after [C-STREAM-14]", async () => {
  const clock = createFakeClock();
  const [a, b] = [createStoreServer("a"), createStoreServer("b")];
  const federation = createFederation({
    sources: [
      { servers: [a], authorities: ["a"] },
      { servers: [b], authorities: ["b"] },
    ],
    clock,
  });
  await using cache = createCache({ clock, directives: true });
  const handle = cache.addFeed(federation);
  cache.topic(T, { name: of("a", "w") }).watch({ wake: () => undefined });
  await turn();
  const closing = handle.close();
  for (const name of [of("a", "x"), of("b", "y"), `${of("b", "z")}#alt=${of("a", "z")}`])
    cache.topic(T, { name }).watch({ wake: () => undefined });
  await closing;
  await turn();
  federation.want(T, [{ name: of("b", "late") }], []);
  await turn();
  expect([a.isOpen, b.opened, clock.pending, federation.traces()]).toEqual([false, 0, 0, []]);
});
