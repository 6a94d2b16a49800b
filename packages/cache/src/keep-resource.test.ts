import { describe, expect, it } from "vitest";

import { put } from "../test/scene.ts";
import { contentVersion, createCache, keepResource } from "./index.ts";

describe("keepResource()", () => {
  it("keeps a given version, and derives one from the content where none is given, as the cache does [S-VER-4]", () => {
    const [given, derived] = [put("x", "1", { version: "v" }).resource, put("x", "1").resource];
    expect([keepResource(given).version, keepResource(derived).version]).toEqual([
      "v",
      contentVersion(derived),
    ]);
    expect([keepResource(given).given, keepResource(derived).given]).toEqual([
      "v",
      contentVersion(derived),
    ]);
    const cache = createCache();
    cache.commit({ put: [put("x")] });
    const { resource } = cache.topic(put("x").typeUrl, { name: "x" }).members()[0] ?? {};
    expect([keepResource(derived).wire, keepResource(derived).hash]).toEqual([
      resource?.wire,
      resource?.hash,
    ]);
  });
});
