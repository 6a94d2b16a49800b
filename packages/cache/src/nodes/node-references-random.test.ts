import { XdsError, type Reference, type ResourceType } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import fc from "fast-check";
import { expect, it } from "vitest";

import { turn } from "../../test/scene.ts";
import type { DanglingWatch } from "../dangling/references.ts";
import { createNodeCaches, type NodeCaches } from "./create-node-caches.ts";

const route = "type.googleapis.com/acme.Route";
const cluster = "type.googleapis.com/acme.Cluster";

/** A route lists clusters, one per letter, and is rejected if it has an exclamation mark. */
const types: readonly ResourceType[] = [
  {
    typeUrl: route,
    validate: ({ payload }) =>
      textOf(payload.value).includes("!")
        ? new XdsError("INVALID_ARGUMENT", "too loud")
        : undefined,
    references: (payload): readonly Reference[] =>
      Array.from(textOf(payload), (name) => ({ typeUrl: cluster, name })),
  },
  { typeUrl: cluster },
];

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/**
 * A step: put or remove something under a key ("": the shared content), replace all of a type
 * there, list the dangling references, or let the event loop turn.
 */
type Step =
  | {
      readonly do: "put" | "remove";
      readonly key: string;
      readonly typeUrl: string;
      readonly name: string;
      readonly to: string;
    }
  | {
      readonly do: "replace";
      readonly key: string;
      readonly typeUrl: string;
      readonly by: readonly (readonly [name: string, to: string])[];
    }
  | { readonly do: "clear"; readonly key: string }
  | { readonly do: "turn" }
  | { readonly do: "list" }
  | { readonly do: "wait"; readonly ms: number };

type Change = Extract<Step, { readonly do: "put" | "remove" | "replace" | "clear" }>;

const keys = ["", "gold", "basic"];
const names = fc.constantFrom("a", "b", "c");
const targets = fc.constantFrom("", "a", "b", "ab", "bc", "d", "a!");
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constantFrom("put" as const, "put" as const, "remove" as const),
        key: fc.constantFrom(...keys),
        typeUrl: fc.constantFrom(route, cluster),
        name: names,
        to: targets,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("replace" as const),
        key: fc.constantFrom(...keys),
        typeUrl: fc.constantFrom(route, cluster),
        by: fc.uniqueArray(fc.tuple(names, targets), { selector: ([name]) => name, maxLength: 3 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant("clear" as const),
        key: fc.constantFrom("gold", "basic"),
      }),
    },
    { weight: 3, arbitrary: fc.constant({ do: "turn" as const }) },
    { weight: 1, arbitrary: fc.constant({ do: "list" as const }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(500, 2_000) }),
    },
  ),
  { maxLength: 40 },
);

/** The resources that are put, by key, type and name; for a route, its clusters. */
class Model {
  readonly content = new Map<string, string>();

  /** Returns the dangling references as `KEY>NAME`, computed only from what is put. */
  dangling(): readonly string[] {
    const has = (key: string, name: string): boolean =>
      this.content.has(`${key}|${cluster}|${name}`);
    const found = new Set<string>();
    for (const [id, to] of this.content) {
      const [key = "", typeUrl] = id.split("|");
      if (typeUrl === route)
        for (const name of to) if (!has(key, name) && !has("", name)) found.add(`${key}>${name}`);
    }
    return [...found].sort();
  }
}

function listed(watch: DanglingWatch): readonly string[] {
  return watch
    .list()
    .map(({ key = "", name }) => `${key}>${name}`)
    .sort();
}

/** Applies a change to the model. A rejected change has no effect. */
function change(nodes: NodeCaches, { content }: Model, step: Change): void {
  if (step.do === "clear") {
    nodes.of(step.key).clear();
    for (const id of content.keys()) if (id.startsWith(`${step.key}|`)) content.delete(id);
    return;
  }
  const { key, typeUrl } = step;
  const layer = key === "" ? nodes.shared : nodes.of(key);
  const puts =
    step.do === "replace" ? step.by : step.do === "put" ? [[step.name, step.to] as const] : [];
  const { rejected } = layer.commit({
    put: puts.map(([name, to]) => ({
      typeUrl,
      resource: { name, version: "", payload: { typeUrl, value: new TextEncoder().encode(to) } },
    })),
    ...(step.do === "remove" && { remove: [{ typeUrl, name: step.name }] }),
    ...(step.do === "replace" && { complete: [{ typeUrl, interest: { name: "*" } }] }),
    atomic: true,
  });
  expect(rejected !== undefined).toBe(typeUrl === route && puts.some(([, to]) => to.includes("!")));
  if (rejected !== undefined) return;
  if (step.do === "remove") content.delete(`${key}|${typeUrl}|${step.name}`);
  if (step.do === "replace")
    for (const id of content.keys()) if (id.startsWith(`${key}|${typeUrl}|`)) content.delete(id);
  for (const [name, to] of puts) content.set(`${key}|${typeUrl}|${name}`, to);
}

it("names what dangles under each key and in the shared content, whatever was put, removed and cleared in whatever order", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const clock = createFakeClock();
      const nodes = createNodeCaches({
        types,
        keyOf: ({ cluster: key }) => key,
        clock,
        tombstoneMs: 1_000,
      });
      nodes.shared.commit({});
      const model = new Model();
      const told = new Set<string>();
      const watch = nodes.watchDangling((event) => {
        const id = `${event.key ?? ""}>${event.name}`;
        // Each is reported once when it begins, and once when it ends.
        expect(told.has(id)).toBe(event.kind === "resolved");
        if (event.kind === "dangling") told.add(id);
        else told.delete(id);
      });
      for (const step of history) {
        if (step.do === "wait") clock.advance(step.ms);
        else if (step.do === "list") expect(listed(watch)).toEqual(model.dangling());
        else if (step.do === "turn") {
          await turn();
          expect([...told].sort()).toEqual(model.dangling());
        } else change(nodes, model, step);
      }
      await turn();
      expect([...told].sort()).toEqual(model.dangling());
      expect(listed(watch)).toEqual(model.dangling());
      await nodes.close();
    }),
    { numRuns: 300 },
  );
});
