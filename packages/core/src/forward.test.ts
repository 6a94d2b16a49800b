import { describe, expect, it } from "vitest";

import type { Committed, ResourceSink, Transaction } from "./feed.ts";
import { forwardSink, forwardSource } from "./forward.ts";
import type { Resource } from "./resource.ts";
import type { ResourceSource, Topic } from "./source.ts";
import { XdsError } from "./xds-error.ts";

const topic: Topic = {
  interest: { name: "x" },
  settled: true,
  head: 0,
  hash: 0,
  changes: () => [],
  members: () => [],
  get: () => undefined,
  removed: () => [],
  watch: () => undefined,
  unwatch: () => undefined,
};

function createSource(): ResourceSource & { revision: number; ready: boolean } {
  return {
    revision: 1,
    ready: false,
    authorities: ["a"],
    viewKey: "gold",
    changedBy: (revision) => revision > 4,
    descriptor: (typeUrl) => ({ typeUrl }),
    serves: (typeUrl) => typeUrl === "served",
    topic: () => topic,
    asOf: (_, name, revision) => ({ revision, since: 1, superseded: true, name }),
  };
}

describe("forwardSource", () => {
  it("forwards every member, and reads it when it is used", () => {
    const root = createSource();
    const source: typeof root & { viewOf?: ResourceSource } = { ...createSource(), viewOf: root };
    const forwarded = forwardSource(source, {});
    expect(forwarded.revision).toBe(1);
    source.revision = 2;
    source.ready = true;
    expect(forwarded.revision).toBe(2);
    expect(forwarded.ready).toBe(true);
    expect(forwarded.authorities).toEqual(["a"]);
    expect(forwarded.viewOf).toBe(root);
    expect(forwarded.viewKey).toBe("gold");
    expect([4, 5].map((revision) => forwarded.changedBy?.(revision))).toEqual([false, true]);
    expect(forwarded.descriptor("t")).toEqual({ typeUrl: "t" });
    expect(forwarded.serves("served")).toBe(true);
    expect(forwarded.serves("other")).toBe(false);
    expect(forwarded.topic("t", { name: "x" })).toBe(topic);
    expect(forwarded.asOf?.("t", "x", 7)).toMatchObject({ name: "x", revision: 7 });
  });

  it("says that every revision may have changed something where the source does not know", () => {
    const source: ResourceSource = { ...createSource(), changedBy: undefined };
    expect(forwardSource(source, {}).changedBy?.(1)).toBe(true);
  });

  it("keeps nothing of a source that does not keep what was replaced", () => {
    const source: ResourceSource = { ...createSource(), asOf: undefined };
    expect(forwardSource(source, {}).asOf?.("t", "x", 1)).toBeUndefined();
  });

  it("replaces the members that change, getters among them, also by nothing", () => {
    const source = createSource();
    const count = { last: 5 };
    const forwarded = forwardSource(source, {
      get revision() {
        return count.last;
      },
      viewKey: undefined,
      serves: () => true,
    });
    expect(forwarded.revision).toBe(5);
    count.last = 6;
    expect(forwarded.revision).toBe(6);
    expect(forwarded.viewKey).toBeUndefined();
    expect(forwarded.serves("other")).toBe(true);
    expect(forwarded.authorities).toEqual(["a"]);
  });
});

interface NotedSink {
  readonly sink: ResourceSink;
  readonly calls: string[];
}

function createSink(name: string, calls: string[], parts: boolean): NotedSink {
  return {
    calls,
    sink: {
      commit(): Committed {
        calls.push(`${name} commit`);
        return { revision: 1 };
      },
      held(typeUrl) {
        calls.push(`${name} held ${typeUrl}`);
        return [];
      },
      unavailable({ typeUrl = "all" }) {
        calls.push(`${name} unavailable ${typeUrl}`);
      },
      ...(parts && { part: () => createSink(`${name}.part`, calls, false).sink }),
    },
  };
}

describe("forwardSink", () => {
  it("forwards every member, and wraps each part as the sink itself", () => {
    const { sink, calls } = createSink("top", [], true);
    const committed: Transaction[] = [];
    const forwarded = forwardSink(sink, (inner) => ({
      commit(transaction) {
        committed.push(transaction);
        return inner.commit(transaction);
      },
    }));
    const part = forwarded.part?.();
    void forwarded.commit({});
    forwarded.unavailable({}, undefined);
    void part?.commit({ label: "part" });
    expect([...(part?.held("t") ?? [])]).toEqual([]);
    part?.unavailable({ typeUrl: "t" }, undefined);
    expect(committed).toEqual([{}, { label: "part" }]);
    expect(calls).toEqual([
      "top commit",
      "top unavailable all",
      "top.part commit",
      "top.part held t",
      "top.part unavailable t",
    ]);
  });

  it("checks what the sink would reject, unless another commit replaces that of the sink", () => {
    const rejection = { typeUrl: "t", name: "n", error: new XdsError("INVALID_ARGUMENT", "no") };
    const { sink } = createSink("top", [], false);
    const checking = { ...sink, checkCommit: () => [rejection] };
    expect(forwardSink(checking, () => ({})).checkCommit?.({})).toEqual([rejection]);
    expect(forwardSink(sink, () => ({})).checkCommit).toBeUndefined();
    const commit = (): Committed => ({ revision: 2 });
    expect(forwardSink(checking, () => ({ commit })).checkCommit).toBeUndefined();
  });

  it("has `prepare` if and only if the sink has it, and forwards its calls", () => {
    const { sink } = createSink("top", [], false);
    const prepared: Resource[] = [];
    const resource = { name: "n", version: "", payload: { typeUrl: "t", value: new Uint8Array() } };
    const preparing = { ...sink, prepare: (one: Resource) => void prepared.push(one) };
    forwardSink(preparing, () => ({})).prepare?.(resource);
    expect(prepared).toEqual([resource]);
    expect(forwardSink(sink, () => ({})).prepare).toBeUndefined();
  });

  it("has no parts where the sink has none", () => {
    expect(forwardSink(createSink("top", [], false).sink, () => ({})).part).toBeUndefined();
  });
});
