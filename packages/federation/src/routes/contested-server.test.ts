import { createCache } from "@xdstp/cache";
import { createFakeClock } from "@xdstp/testing";
import { expect, it, onTestFinished } from "vitest";

import { of, resource, T } from "../../test/scene.ts";
import { createStoreServer, type StoreServer } from "../../test/store-server.ts";
import { turn } from "../../test/turn.ts";
import { createFederation, type FederationServer } from "../index.ts";

it("presents no version that it knows of what a stand-in may have replaced by the time that they arrive [C-GRPC-6, C-RECON-3]", async () => {
  const clock = createFakeClock();
  const [first, second] = [createStoreServer("first"), createStoreServer("second")];
  const cache = createCache({ clock, directives: true });
  onTestFinished(() => cache.close());
  cache.addFeed(
    createFederation({ sources: [{ servers: [first, second], authorities: ["a"] }], clock }),
  );
  first.put(T, resource(of("a", "x"), "X"));
  const watch = (name: string): void => {
    cache.topic(T, { name }).watch({ wake: () => undefined });
  };
  watch(of("a", "x"));
  await turn();
  const presented = (): readonly string[] =>
    Array.from(first.sink.held(T), ({ name, version }) => `${name} ${version}`);
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

/**
 * A server whose status reports whether `x` is still cached, as our client does for all subscribed
 * names.
 */
function looking(server: StoreServer): FederationServer {
  return {
    id: server.id,
    name: server.name,
    open() {
      const open = server.open();
      const { feed } = open;
      const status = (): unknown => {
        server.sink.held(T, { name: of("a", "x") });
        return feed.status?.();
      };
      return { ...open, feed: Object.assign(Object.create(feed) as typeof feed, { status }) };
    },
  };
}

it("says of what one gave that stood in whether that counts, to a client end whose status asks what is held [C-GRPC-6]", async () => {
  const [first, second, third] = ["first", "second", "third"].map(createStoreServer) as [
    StoreServer,
    StoreServer,
    StoreServer,
  ];
  const clock = createFakeClock();
  const cache = createCache({ clock, directives: true });
  onTestFinished(() => cache.close());
  cache.addFeed(
    createFederation({
      sources: [{ servers: [looking(first), second, third], authorities: ["a"] }],
      clock,
    }),
  );
  for (const server of [first, second]) server.fail("down");
  first.responded = false;
  third.put(T, resource(of("a", "x"), "X"));
  cache.topic(T, { name: of("a", "x") }).watch({ wake: () => undefined });
  await turn();
  second.silent = true;
  second.fail(undefined);
  const standsIn = (): readonly unknown[] =>
    Array.from(first.sink.held(T, { name: of("a", "x") }), ({ standIn }) => standIn);
  expect(standsIn()).toEqual([true]);
  first.responded = true;
  expect(standsIn()).toEqual([false]);
});
