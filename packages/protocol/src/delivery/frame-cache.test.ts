import { describe, expect, it } from "vitest";
import { added } from "../../test/entries.ts";
import { lengthDelimited } from "@xdstp/core/wire";
import { createFrameCache, type FrameProfile, type Frames } from "./frame-cache.ts";
import { createFrame } from "./frame.ts";

/** A profile that records the versions that it encoded. */
function useProfile(parts = 1): FrameProfile & { readonly versions: readonly string[] } {
  const versions: string[] = [];
  return {
    versions,
    said: () => new Uint8Array(),
    encode(entries, version) {
      versions.push(version);
      const list = Array.from({ length: parts }, (_, part) =>
        createFrame([lengthDelimited(1, `${version}/${part}/${entries.length}`)]),
      );
      return {
        list,
        version,
        resources: entries.length,
        removed: 0,
        notSent: [],
        batch: undefined,
      };
    },
  };
}

const firstNonce = ({ list }: Frames): number => list[0]?.nonce ?? 0;

describe("createFrameCache()", () => {
  it("encodes an array once for all streams in the same state", () => {
    const cache = createFrameCache();
    const profile = useProfile();
    const entries = [added("a")];
    const frames = cache.get(profile, entries, 0, "v1");
    for (let stream = 0; stream < 100; stream++)
      expect(cache.get(profile, entries, 0, "v1")).toBe(frames);
    expect(profile.versions).toEqual(["v1"]);
    expect(cache.counters).toEqual({ encoded: 1, shared: 100, restamped: 0 });
  });

  it("encodes anew for another array and for another profile", () => {
    const cache = createFrameCache();
    const profiles = [useProfile(), useProfile()] as const;
    cache.get(profiles[0], [added("a")], 0, "v1");
    const entries = [added("a")];
    cache.get(profiles[0], entries, 0, "v1");
    cache.get(profiles[1], entries, 0, "v1");
    expect(cache.counters).toEqual({ encoded: 3, shared: 0, restamped: 0 });
  });

  it("stamps anew for a stream that has sent a newer nonce, and shares that with the next one", () => {
    const cache = createFrameCache();
    const profile = useProfile();
    const entries = [added("a")];
    const old = cache.get(profile, entries, 0, "v1");
    const fresh = cache.get(profile, entries, firstNonce(old), "v1");
    expect(firstNonce(fresh)).toBeGreaterThan(firstNonce(old));
    expect(cache.get(profile, entries, firstNonce(old), "v1")).toBe(fresh);
    expect(cache.get(profile, entries, 0, "v1")).toBe(fresh);
    expect(cache.counters).toEqual({ encoded: 1, shared: 2, restamped: 1 });
  });

  it("stamps all parts of a split response anew, in their order", () => {
    const cache = createFrameCache();
    const profile = useProfile(3);
    const entries = [added("a")];
    const old = cache.get(profile, entries, 0, "v1");
    const between = old.list[1]?.nonce ?? 0;
    const nonces = cache.get(profile, entries, between, "v1").list.map(({ nonce }) => nonce);
    expect(nonces).toHaveLength(3);
    expect(nonces).toEqual([...nonces].sort((a, b) => a - b));
    expect(Math.min(...nonces)).toBeGreaterThan(between);
    expect(cache.counters.encoded).toBe(1);
  });
});
