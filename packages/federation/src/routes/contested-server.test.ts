import { createCache } from "@xdstp/cache";
import { createFakeClock } from "@xdstp/testing";
import { expect, it, onTestFinished } from "vitest";

import { of, resource, T } from "../../test/scene.ts";
import { createStoreServer } from "../../test/store-server.ts";
import { turn } from "../../test/turn.ts";
import { createFederation } from "../index.ts";

it("presents no version that it knows of what a stand-in may have replaced by the time that they arrive [C-GRPC-6, C-RECON-3]", async () => {
  const clock = createFakeClock();
  const [first, second] = [createStoreServer("first"), createStoreServer("second")];
  const cache = createCache({ clock, directives: true });
  onTestFinished(() => cache.close());
  cache.addFeed(createFederation({ sources: [{ servers: [first, second], authorities: ["a"] }], clock }));
  first.put(T, resource(of("a", "x"), "X"));
  const watch = (name: string): void => { cache.topic(T, { name }).watch({ wake: () => undefined }); };
  watch(of("a", "x"));
  await turn();
  const presented = (): readonly string[] => Array.from(first.sink.held(T), ({ name, version }) => `${name} ${version}`);
  expect(presented()).toEqual([`${of("a", "x")} X`]);
  first.fail("down");
  expect(presented()).toEqual([`${of("a", "x")} may have been replaced`]);
  watch(of("a", "y"));
  await turn();
  expect([second.isOpen, presented()]).toEqual([true, []]);
  first.fail(undefined);
  await turn();
  expect(presented()).toEqual([`${of("a", "x")} X`]);
});
