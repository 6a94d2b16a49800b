import { describe, expect, it } from "vitest";

import { createWatcher, put, T } from "../test/scene.ts";
import { createCacheState } from "./cache-state.ts";
import { readName } from "./read-name.ts";
import { TypeStore, type TypeHost } from "./type-store.ts";

const glob = "xdstp://a/t.T/ns/*";
const member = "xdstp://a/t.T/ns/x";

function createStore(wanted: readonly string[] = []): TypeStore {
  const host: TypeHost = {
    state: createCacheState(),
    limits: { ms: 1000, count: 1 },
    replacedBytes: 0,
    now: () => 0,
    inWildcard: () => true,
    wants: (_, key) => wanted.includes(key),
    opened: () => undefined,
    closed: () => undefined,
    outage: () => undefined,
  };
  return new TypeStore(T, host);
}

const change = (text: string): Parameters<TypeStore["put"]>[0] => ({
  name: readName(text),
  text,
  owner: undefined,
});

describe("TypeStore", () => {
  it("keeps the group of a glob while a topic of any spelling follows it, and no longer [S-LIM-4]", () => {
    const type = createStore();
    const watcher = createWatcher();
    const topics = [glob, "xdstp://a/t.T/ns/%2A"].map((name) =>
      type.createTopic({ name }, readName(name)),
    );
    for (const topic of topics) topic.watch(watcher);
    expect(type.knownGroup(glob)?.topics.size).toBe(2);
    topics[0]?.unwatch(watcher);
    expect(type.knownGroup(glob)?.topics.size).toBe(1);
    topics[1]?.unwatch(watcher);
    expect(type.knownGroup(glob)).toBeUndefined();
  });

  it("keeps the group of a glob while a name of it is known, and no longer [S-LIM-4]", () => {
    const type = createStore();
    type.put(change(member), put(member).resource, false);
    expect(type.knownGroup(glob)).toMatchObject({ size: 1 });
    const record = type.record(member);
    if (record !== undefined) type.forget(record);
    expect([type.knownGroup(glob), type.records.size, type.size]).toEqual([undefined, 0, 0]);
  });

  it("keeps the group of a glob that a feed has said is complete, for as long as it is asked for [B-RELAY-13]", () => {
    const type = createStore([glob]);
    type.settleGroup(type.group(glob));
    expect(type.knownGroup(glob)).toMatchObject({ settled: true });
    type.put(change(member), put(member).resource, false);
    const record = type.record(member);
    if (record !== undefined) type.forget(record);
    expect(type.knownGroup(glob)).toMatchObject({ settled: true, size: 0 });
    expect(createStore().knownGroup(glob)).toBeUndefined();
  });

  it("keeps a name whose removal has left the window only for those who ask for it [S-LIM-4]", () => {
    const sizes = [[], [member]].map((wanted) => {
      const type = createStore(wanted);
      for (const name of [member, "other", "more"])
        type.put(change(name), put(name).resource, false);
      for (const name of [member, "other", "more"]) type.remove(change(name));
      type.expire();
      return [type.window.size, [...type.records.keys()], type.knownGroup(glob)?.size];
    });
    expect(sizes).toEqual([
      [1, ["more"], undefined],
      [1, [member, "more"], 1],
    ]);
  });

  it("does not keep what was said of a glob that nobody asks for [S-LIM-4]", () => {
    const type = createStore();
    type.settleGroup(type.group(glob));
    expect(type.knownGroup(glob)).toBeUndefined();
  });
});
