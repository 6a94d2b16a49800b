import { describe, expect, it } from "vitest";

import { createWatcher, put, show, T } from "../test/scene.ts";
import { contentVersion, createCache, type CacheEvent } from "./index.ts";

const star = { name: "*" };

function versionOf(cache: ReturnType<typeof createCache>, name = "x"): string | undefined {
  return cache.topic(T, { name }).members()[0]?.resource?.version;
}

describe("versions of a cache", () => {
  it("derives a version from the content where none is given, the same in every replica [S-VER-4, S-VER-7]", () => {
    const [one, other] = [createCache(), createCache()];
    one.commit({ put: [put("y"), put("x", "content")] });
    other.commit({ put: [put("x", "old")] });
    other.commit({ put: [put("x", "content", { ttlMs: 5 })] });
    expect(versionOf(one)).toBe(contentVersion(put("x", "content").resource));
    expect(versionOf(other)).toBe(versionOf(one));
  });

  it("keeps a given version verbatim [S-VER-4, B-VER-1]", () => {
    const cache = createCache();
    for (const version of ["10", "9", "b", "ä~"]) {
      cache.commit({ put: [put("x", version, { version })] });
      expect(versionOf(cache)).toBe(version);
    }
  });

  it("takes equal content under an equal version for no change [S-ACK-11]", () => {
    const cache = createCache();
    cache.commit({ put: [put("x", "1"), put("y", "1", { version: "v" })] });
    const topic = cache.topic(T, star);
    const watcher = createWatcher();
    topic.watch(watcher);
    const members = topic.members();
    cache.commit({ put: [put("x", "1"), put("y", "1", { version: "v" })] });
    expect([watcher.wakes, topic.head, cache.revision]).toEqual([0, 1, 2]);
    expect(topic.members()).toBe(members);
  });

  it("serves other bytes under a version that came before as version~hash, counts and tells it [B-VER-5]", () => {
    const events: CacheEvent[] = [];
    const cache = createCache({
      onEvent: (event) => {
        events.push(event);
      },
    });
    cache.commit({ put: [put("x", "1", { version: "v" })] });
    cache.commit({ put: [put("x", "2", { version: "v" })] });
    const servedAs = `v~${contentVersion(put("x", "2").resource)}`;
    expect(versionOf(cache)).toBe(servedAs);
    expect(cache.topic(T, { name: "x" }).members()[0]?.resource?.given).toBe("v");
    expect(cache.counters.reusedVersions).toBe(1);
    expect(events).toContainEqual({
      kind: "version-reused",
      typeUrl: T,
      name: "x",
      version: "v",
      servedAs,
    });
  });

  it("takes a version that it made unique itself for one that came before [B-VER-5]", () => {
    const cache = createCache();
    for (const content of ["1", "2"]) cache.commit({ put: [put("x", content, { version: "v" })] });
    const made = versionOf(cache) ?? "";
    cache.commit({ put: [put("x", "3", { version: made })] });
    expect([versionOf(cache), cache.counters.reusedVersions]).toEqual([
      `${made}~${contentVersion(put("x", "3").resource)}`,
      2,
    ]);
  });

  it("does not take the same bytes again for a new violation [B-VER-5]", () => {
    const cache = createCache();
    for (const content of ["1", "2", "2"])
      cache.commit({ put: [put("x", content, { version: "v" })] });
    expect(cache.counters.reusedVersions).toBe(1);
    expect(cache.topic(T, { name: "x" }).head).toBe(2);
    cache.commit({ put: [put("x", "1", { version: "v" })] });
    expect(versionOf(cache)).toBe(`v~${contentVersion(put("x", "1").resource)}`);
    cache.commit({ put: [put("x", "1", { version: "w" })] });
    expect(versionOf(cache)).toBe("w");
  });

  it("remembers a version over a removal, for clients that held it [B-VER-5]", () => {
    const cache = createCache();
    cache.commit({ put: [put("x", "1", { version: "v" }), put("y", "1", { version: "v" })] });
    cache.commit({
      remove: [
        { typeUrl: T, name: "x" },
        { typeUrl: T, name: "y" },
      ],
    });
    cache.commit({ put: [put("x", "2", { version: "v" }), put("y", "1", { version: "v" })] });
    expect(versionOf(cache)).toBe(`v~${contentVersion(put("x", "2").resource)}`);
    expect(versionOf(cache, "y")).toBe("v");
  });

  it("tells upstream the version that upstream gave [C-RECON-3]", () => {
    const cache = createCache();
    cache.commit({ put: [put("x", "1", { version: "v" }), put("z", "1")] });
    cache.commit({ put: [put("x", "2", { version: "v" })] });
    expect([...cache.held(T)]).toMatchObject([
      { name: "x", version: "v" },
      { name: "z", version: contentVersion(put("z").resource) },
    ]);
  });

  it("takes a new version for a change although the content is equal [B-RELAY-3]", () => {
    const cache = createCache();
    cache.commit({ put: [put("x", "1", { version: "v" })] });
    cache.commit({ put: [put("x", "1", { version: "w" })] });
    expect(versionOf(cache)).toBe("w");
  });

  it("takes another TTL or cache control alone for a change, under the same version [S-TTL-7]", () => {
    const cache = createCache();
    const topic = cache.topic(T, star);
    for (const more of [{}, { ttlMs: 5 }, { ttlMs: 6 }, { ttlMs: 6, noStore: true }, {}]) {
      cache.commit({ put: [put("x", "1", more)] });
      expect(topic.head).toBe(cache.revision);
      expect(topic.members()[0]?.resource).toMatchObject({
        version: contentVersion(put("x").resource),
        ...more,
      });
    }
  });

  it("has the sum of its members' hashes as the hash of a topic, at every change [S-VER-2]", () => {
    const cache = createCache();
    const topic = cache.topic(T, star);
    topic.watch(createWatcher());
    const sum = (): number =>
      topic.members().reduce((total, { resource }) => (total + (resource?.hash ?? 0)) % 2 ** 52, 0);
    cache.commit({ put: Array.from({ length: 50 }, (_, index) => put(`n${index}`)) });
    expect(topic.hash).toBe(sum());
    const before = topic.hash;
    cache.commit({ put: [put("n1", "2"), put("m")], remove: [{ typeUrl: T, name: "n2" }] });
    expect(topic.hash).toBe(sum());
    cache.commit({ put: [put("n1"), put("n2")], remove: [{ typeUrl: T, name: "m" }] });
    expect(topic.hash).toBe(before);
    expect(topic.members().map(show)).toHaveLength(50);
  });
});
