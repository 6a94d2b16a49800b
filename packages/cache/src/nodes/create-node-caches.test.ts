import {
  type Entry,
  type NodeClaim,
  type ResourceSource,
  type Topic,
  type Transaction,
  XdsError,
} from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createNodeCaches, type NodeCaches, nodeField } from "./create-node-caches.ts";

const typeUrl = "type.googleapis.com/acme.Flag";

function nodesBy(
  keyOf: (node: NodeClaim) => string | undefined = ({ cluster }) => cluster,
  clock = createFakeClock(),
): NodeCaches {
  return createNodeCaches({ keyOf, clock, tombstoneMs: 1_000 });
}

function flag(
  name: string,
  value: number,
): { readonly typeUrl: string; readonly name: string; readonly value: Uint8Array } {
  return { typeUrl, name, value: new Uint8Array([value]) };
}

function shown(entries: readonly Entry[]): Record<string, number | undefined> {
  return Object.fromEntries(
    entries.flatMap(({ name, resource }) =>
      resource === undefined ? [] : [[name, resource.payload.value[0]]],
    ),
  );
}

const node: NodeClaim = {
  id: "n",
  cluster: "gold",
  userAgentName: "",
  userAgentVersion: "",
  locality: "",
  clientFeatures: [],
};

function watched(topic: Topic): { readonly wakes: number } {
  const count = { wakes: 0 };
  topic.watch({
    wake: () => {
      count.wakes++;
    },
  });
  return count;
}

describe("createNodeCaches", () => {
  it("gives one topic for the same parameters in any order [N-66]", () => {
    const gold = nodesBy().of("gold");
    const of = (...pairs: readonly (readonly [string, string])[]): Topic =>
      gold.topic(typeUrl, { name: "web", parameters: new Map(pairs) });
    const topic = of(["env", "prod"], ["zone", "a"]);
    watched(topic);
    expect(of(["zone", "a"], ["env", "prod"])).toBe(topic);
    expect(of(["zone", "b"], ["env", "prod"])).not.toBe(topic);
  });

  it("gives other content under the same name to the clients with a key, and the shared content to all others", () => {
    const nodes = nodesBy();
    nodes.shared.put(flag("web", 1));
    nodes.of("gold").put(flag("web", 2));
    const { sourceFor, source } = nodes.serving;
    expect(shown(sourceFor({ node }).topic(typeUrl, { name: "*" }).members())).toEqual({ web: 2 });
    expect(shown(sourceFor({ node }).topic(typeUrl, { name: "web" }).members())).toEqual({
      web: 2,
    });
    expect(
      shown(
        sourceFor({ node: { ...node, cluster: "basic" } })
          .topic(typeUrl, { name: "*" })
          .members(),
      ),
    ).toEqual({ web: 1 });
    expect(shown(source.topic(typeUrl, { name: "*" }).members())).toEqual({ web: 1 });
    expect(nodes.keys()).toEqual(["gold"]);
  });

  it("is ready once, with the shared content", async () => {
    const events: unknown[] = [];
    const nodes = createNodeCaches({
      keyOf: ({ cluster }) => cluster,
      clock: createFakeClock(),
      onEvent: (event) => {
        events.push(event);
      },
    });
    nodes.of("gold").put(flag("web", 2));
    nodes.of("basic").put(flag("web", 3));
    nodes.shared.put(flag("web", 1));
    await Promise.resolve();
    expect(events).toEqual([{ kind: "ready", revision: 3 }]);
  });

  it("counts one sequence of revisions", () => {
    const nodes = nodesBy();
    const revisions = [
      nodes.shared.put(flag("a", 1)),
      nodes.of("gold").put(flag("a", 2)),
      nodes.of("basic").put(flag("a", 3)),
      nodes.shared.put(flag("b", 1)),
    ].map(({ revision }) => revision);
    expect(revisions).toEqual([1, 2, 3, 4]);
    expect(nodes.revision).toBe(4);
    expect(nodes.serving.source.revision).toBe(4);
    expect(nodes.of("gold").viewOf).toBe(nodes.serving.source);
  });

  it("shows the shared resource again once the one of the key is removed, and follows it", () => {
    const nodes = nodesBy();
    const gold = nodes.of("gold");
    nodes.shared.put(flag("web", 1));
    const all = gold.topic(typeUrl, { name: "*" });
    const one = gold.topic(typeUrl, { name: "web" });
    watched(all);
    watched(one);
    gold.put(flag("web", 2));
    const { revision } = gold.remove(typeUrl, "web");
    expect(shown(all.changes(revision - 1) ?? [])).toEqual({ web: 1 });
    expect(shown(one.members())).toEqual({ web: 1 });
    expect(nodes.keys()).toEqual([]);
    const next = nodes.shared.put(flag("web", 3)).revision;
    expect(shown(all.members())).toEqual({ web: 3 });
    expect(all.changes(next - 1)).toHaveLength(1);
    nodes.shared.remove(typeUrl, "web");
    expect(shown(all.members())).toEqual({});
    expect(one.members().map(({ resource }) => resource)).toEqual([undefined]);
  });

  it("does not wake the clients of a key for a shared resource that they do not see", () => {
    const nodes = nodesBy();
    const gold = nodes.of("gold");
    gold.put(flag("web", 2));
    nodes.shared.put(flag("api", 1));
    const topic = gold.topic(typeUrl, { name: "*" });
    const count = watched(topic);
    const { head } = topic;
    nodes.shared.put(flag("web", 1));
    expect([count.wakes, topic.head]).toEqual([0, head]);
    nodes.shared.put(flag("api", 2));
    expect([count.wakes, topic.head]).toEqual([1, nodes.revision]);
  });

  it("wakes the clients of a key for each report of a failure, also of the very same error, and for its end", () => {
    const nodes = nodesBy();
    const gold = nodes.of("gold");
    gold.put(flag("web", 2));
    nodes.shared.put(flag("api", 1));
    const topic = gold.topic(typeUrl, { name: "*" });
    const count = watched(topic);
    const error = new XdsError("UNAVAILABLE", "the folder is broken");
    const wakes = [error, error, undefined].map((reported) => {
      nodes.shared.unavailable({}, reported);
      return [count.wakes, topic.stale];
    });
    expect(wakes).toEqual([
      [1, error],
      [2, error],
      [3, undefined],
    ]);
    nodes.shared.unavailable({}, error);
    nodes.shared.put(flag("web", 1));
    expect(count.wakes).toBe(4);
  });

  it("makes no revision when a shared resource that replaces a removed one becomes stale and is good again", () => {
    const nodes = nodesBy();
    const gold = nodes.of("gold");
    nodes.shared.put(flag("web", 1));
    gold.put(flag("web", 2));
    const { revision } = gold.remove(typeUrl, "web");
    nodes.shared.unavailable({}, new XdsError("UNAVAILABLE", "the folder is broken"));
    nodes.shared.unavailable({}, undefined);
    expect(nodes.revision).toBe(revision);
    const all = gold.topic(typeUrl, { name: "*" });
    nodes.shared.put(flag("web", 3));
    expect([shown(all.members()), nodes.revision]).toEqual([{ web: 3 }, revision + 2]);
  });

  it("shares arrays between keys without content", () => {
    const nodes = nodesBy();
    nodes.shared.put(flag("web", 1));
    const [a, b] = ["a", "b"].map((key) => {
      const topic = nodes.of(key).topic(typeUrl, { name: "*" });
      watched(topic);
      return topic;
    });
    expect(a?.members()).toBe(b?.members());
  });

  it("forgets copies that everybody has had time to read, and the history before that", () => {
    const clock = createFakeClock();
    const nodes = nodesBy(undefined, clock);
    const gold = nodes.of("gold");
    nodes.shared.put(flag("web", 1));
    const topic = gold.topic(typeUrl, { name: "*" });
    watched(topic);
    const put = gold.put(flag("web", 2)).revision;
    gold.remove(typeUrl, "web");
    clock.advance(1_001);
    gold.put(flag("other", 1));
    expect(shown(topic.members())).toEqual({ web: 1, other: 1 });
    expect(topic.changes(put)).toBeUndefined();
  });

  it("rejects what is not a key in words", () => {
    const nodes = nodesBy(() => 42 as unknown as string);
    expect(() => nodes.serving.sourceFor({ node })).toThrow(
      'keyOf returned a number for node "n"; return a text, or undefined for the shared content',
    );
    expect(() => nodes.of("")).toThrow("is not a node key");
    const { serving } = nodesBy(() => undefined);
    expect(serving.sourceFor({ node })).toBe(serving.source);
  });

  it("commits to several keys all or nothing", () => {
    const nodes = nodesBy();
    const part = (name: string, value: number): Transaction => ({
      put: [
        {
          typeUrl,
          resource: { name, version: "", payload: { typeUrl, value: new Uint8Array([value]) } },
        },
      ],
    });
    const xdstp = "xdstp://a/acme.Flag/x";
    const all = nodes.commit(
      new Map([
        [undefined, part("web", 1)],
        ["gold", part("web", 2)],
      ]),
    );
    expect(all).toEqual({ revision: nodes.revision - 1 });
    const rejected = nodes.commit(
      new Map([
        [undefined, part("web", 3)],
        ["gold", part("web", 4)],
        ["basic", part(xdstp, 5)],
        ["other", part("", 6)],
      ]),
    );
    expect(rejected).toMatchObject({
      revision: all.revision + 1,
      rejected: [
        { key: "basic", name: xdstp },
        { key: "other", name: "" },
      ],
    });
    const members = (source: ResourceSource): object =>
      shown(source.topic(typeUrl, { name: "*" }).members());
    expect([members(nodes.shared), members(nodes.of("gold"))]).toEqual([{ web: 1 }, { web: 2 }]);
    expect(nodes.keys()).toEqual(["gold"]);
    expect(nodes.commit(new Map())).toEqual({ revision: nodes.revision });
  });

  it("keeps what was there when a resource of a key is invalid", () => {
    const nodes = nodesBy();
    nodes.shared.put(flag("web", 1));
    const gold = nodes.of("gold");
    expect(() => gold.put({ ...flag("*", 2) })).toThrow(XdsError);
    expect(() => gold.put({ ...flag("web", 2), ttlMs: -1 })).toThrow(XdsError);
    expect(() => gold.put({ ...flag("web", 2), expireMs: 1 })).toThrow("expireMs");
    expect(() => gold.put(flag("xdstp://a/acme.Flag/web", 2))).toThrow(
      "is an xdstp name, which has the same content for every node",
    );
    expect(shown(gold.topic(typeUrl, { name: "*" }).members())).toEqual({ web: 1 });
    expect(nodes.keys()).toEqual([]);
  });

  it("is at each moment what a reader of all changes has, for any sequence of changes", () => {
    const change = fc.record({
      key: fc.constantFrom("", "gold", "basic"),
      name: fc.constantFrom("a", "b", "c"),
      value: fc.integer({ min: 0, max: 3 }),
      reads: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const nodes = nodesBy();
        const model = new Map<string, Map<string, number>>(
          ["", "gold", "basic"].map((key) => [key, new Map()]),
        );
        const readers = ["gold", "basic"].flatMap((key) =>
          ["*", "a"].map((name) => ({
            key,
            name,
            topic: nodes.of(key).topic(typeUrl, { name }),
            at: 0,
            has: new Map<string, number>(),
            hash: 0,
          })),
        );
        for (const { topic } of readers) watched(topic);
        for (const { key, name, value, reads } of changes) {
          const writer = key === "" ? nodes.shared : nodes.of(key);
          if (value === 0) writer.remove(typeUrl, name);
          else writer.put(flag(name, value));
          if (value === 0) model.get(key)?.delete(name);
          else model.get(key)?.set(name, value);
          for (const reader of readers) {
            const wanted = Object.fromEntries(
              [...new Map([...(model.get("") ?? []), ...(model.get(reader.key) ?? [])])].filter(
                ([one]) => reader.name === "*" || one === reader.name,
              ),
            );
            expect(shown(reader.topic.members())).toEqual(wanted);
            expect(reader.topic.hash).toBe(
              reader.topic
                .members()
                .reduce((sum, { resource }) => (sum + (resource?.hash ?? 0)) % 2 ** 52, 0),
            );
            if (!reads) continue;
            for (const entry of reader.topic.changes(reader.at) ?? []) {
              if (entry.resource === undefined) reader.has.delete(entry.name);
              else reader.has.set(entry.name, entry.resource.payload.value[0] ?? 0);
            }
            reader.at = reader.topic.head;
            expect(Object.fromEntries(reader.has)).toEqual(wanted);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

const described: NodeClaim = {
  id: "e1",
  cluster: "gold",
  userAgentName: "envoy",
  userAgentVersion: "",
  locality: "eu/a",
  clientFeatures: [],
  place: { region: "eu", zone: "a", subZone: "" },
  metadata: { tier: "gold", team: { name: "shop", size: 3, tags: ["x"] } },
};

it.each([
  ["id", "e1"],
  ["cluster", "gold"],
  ["user_agent_name", "envoy"],
  ["locality.region", "eu"],
  ["locality.zone", "a"],
  ["locality.sub_zone", ""],
  ["metadata.tier", "gold"],
  ["metadata.team.name", "shop"],
  ["metadata.team.size", "3"],
  ["metadata.team", undefined],
  ["metadata.team.tags", undefined],
  ["metadata.none", undefined],
  ["metadata.toString", undefined],
])("reads %s of a node", (field, value) => {
  expect(nodeField(field)(described)).toBe(value);
});

it.each(["", "tier", "metadata", "metadata.", "metadata.a..b", "toString"])(
  "rejects the field %j in words",
  (field) => {
    expect(() => nodeField(field)).toThrow("a node has no field");
  },
);
