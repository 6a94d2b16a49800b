import type { Put } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { put, T } from "../test/scene.ts";
import { createCache } from "./index.ts";

/** The first byte of the payload that readers receive, and the version. */
function served(cache: ReturnType<typeof createCache>, name = "x"): unknown {
  const resource = cache.topic(T, { name }).members()[0]?.resource;
  return [resource?.payload.value[0], resource?.version];
}

function bytesOf({ resource }: Put): Uint8Array {
  return resource.payload.value;
}

describe("prepare()", () => {
  it("changes nothing that readers see", () => {
    const cache = createCache();
    cache.prepare?.(put("x").resource);
    expect([cache.revision, served(cache)]).toEqual([0, [undefined, undefined]]);
  });

  it("encodes the resource: the commit that puts it does not encode it again [S-VER-4]", () => {
    const cache = createCache();
    const one = put("x", "a");
    const before = createCache();
    before.commit({ put: [one] });
    cache.prepare?.(one.resource);
    bytesOf(one)[0] = 0;
    cache.commit({ put: [one] });
    expect(served(cache)).toEqual(served(before));
  });

  it("keeps the version that the resource states", () => {
    const cache = createCache();
    const one = put("x", "a", { version: "7" });
    cache.prepare?.(one.resource);
    cache.commit({ put: [one] });
    expect(served(cache)).toEqual([bytesOf(one)[0], "7"]);
  });

  it("keeps a reused version unique [B-VER-5]", () => {
    const cache = createCache();
    cache.commit({ put: [put("x", "a", { version: "7" })] });
    const other = put("x", "b", { version: "7" });
    cache.prepare?.(other.resource);
    cache.commit({ put: [other] });
    expect(served(cache)).toEqual([bytesOf(other)[0], expect.stringMatching(/^7~/) as unknown]);
  });

  it("does not throw for a resource that cannot be encoded; the commit rejects it", () => {
    const cache = createCache();
    const bad = put("x");
    const resource = { ...bad.resource, payload: { typeUrl: T, value: "text" as never } };
    cache.prepare?.(resource);
    expect(cache.commit({ put: [{ ...bad, resource }] }).rejected).toHaveLength(1);
  });
});
