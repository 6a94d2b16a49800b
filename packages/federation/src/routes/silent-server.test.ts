import { createCache } from "@xdstp/cache";
import type { ClientStatus } from "@xdstp/core/client";
import { createFakeClock } from "@xdstp/testing";
import { expect, it, onTestFinished } from "vitest";

import { of, resource, T } from "../../test/scene.ts";
import { createStoreServer } from "../../test/store-server.ts";
import { turn } from "../../test/turn.ts";
import { createFederation, type FederationServer } from "../index.ts";

it("takes a collection for settled that a server was silent of while another stood in for it, once it is believed [C-GLOB-9, C-GRPC-6]", async () => {
  const clock = createFakeClock();
  const [store, second] = [createStoreServer("first"), createStoreServer("second")];
  let responded = false;
  const first: FederationServer = { id: "first", name: "first", open() {
    const opened = store.open();
    return { feed: Object.assign(opened.feed, { status: () => ({ responded }) as ClientStatus }), close() { opened.close(); } };
  } };
  const cache = createCache({ clock, directives: true });
  onTestFinished(() => cache.close());
  cache.addFeed(createFederation({ sources: [{ servers: [first, second], authorities: ["a"] }], clock }));
  store.fail("down");
  second.silent = true;
  const glob = cache.topic(T, { name: of("a", "*") });
  glob.watch({ wake: () => undefined });
  await turn();
  expect(second.isOpen).toBe(true);
  await store.sink.commit({ settled: [{ typeUrl: T, interest: { name: of("a", "*") } }] });
  expect(glob.settled).toBe(false);
  responded = true;
  await store.sink.commit({ put: [{ typeUrl: T, resource: resource(of("a", "x"), "X") }] });
  expect([glob.settled, glob.members().length]).toEqual([true, 1]);
});

it("ends the use of a stand-in with any answer of a server before it, be it empty, and asks that once more for what it was silent of [C-GRPC-6]", async () => {
  const clock = createFakeClock();
  const [store, second] = [createStoreServer("first"), createStoreServer("second")];
  let responded = false;
  const first: FederationServer = { id: "first", name: "first", open() {
    const opened = store.open();
    return { feed: Object.assign(opened.feed, { status: () => ({ responded }) as ClientStatus }), close() { opened.close(); } };
  } };
  const cache = createCache({ clock, directives: true });
  onTestFinished(() => cache.close());
  cache.addFeed(createFederation({ sources: [{ servers: [first, second], authorities: ["a"] }], clock }));
  store.fail("down");
  second.put(T, resource(of("a", "x"), "X"));
  const x = cache.topic(T, { name: of("a", "x") });
  x.watch({ wake: () => undefined });
  await turn();
  await store.sink.commit({ remove: [{ typeUrl: T, name: of("a", "x") }] });
  expect(x.members()[0]?.resource?.version).toBe("X");
  responded = true;
  store.sink.unavailable({}, undefined);
  const asked = store.answers.length;
  store.fail(undefined);
  await turn();
  expect([second.isOpen, store.answers.length > asked, x.members()[0]?.resource]).toEqual([false, true, undefined]);
});
