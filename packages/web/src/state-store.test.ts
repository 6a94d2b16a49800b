import "fake-indexeddb/auto";
import { expect, it } from "vitest";

import { createStateStore } from "./index.ts";

it("keeps, replaces and removes resources by key, apart from other databases", async () => {
  const store = createStateStore("one");
  const resource = { version: "v", body: Uint8Array.of(1, 2), savedAt: 5, ttlMs: 7 };
  expect(await store.load("a")).toBeUndefined();
  await store.save("a", resource);
  await store.save("b", { ...resource, version: "w" });
  expect(await createStateStore("one").load("a")).toEqual(resource);
  expect(await createStateStore("two").load("a")).toBeUndefined();
  await store.remove("a");
  expect([await store.load("a"), (await store.load("b"))?.version]).toEqual([undefined, "w"]);
});
