import type { Reference, ResourceType } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import fc from "fast-check";
import { expect, it } from "vitest";

import type { DanglingWatch } from "../dangling/dangling-reference.ts";
import { createNodeCaches } from "./create-node-caches.ts";

const route = "type.googleapis.com/acme.Route";
const cluster = "type.googleapis.com/acme.Cluster";

/** A route names clusters, one per letter. */
const types: readonly ResourceType[] = [
  {
    typeUrl: route,
    references: (payload): readonly Reference[] =>
      Array.from(new TextDecoder().decode(payload), (name) => ({ typeUrl: cluster, name })),
  },
  { typeUrl: cluster },
];

/** Something is put or removed under a key ("": for all nodes), somebody asks what dangles, or the event loop turns. */
type Step =
  | {
      readonly do: "put" | "remove";
      readonly key: string;
      readonly typeUrl: string;
      readonly name: string;
      readonly to: string;
    }
  | { readonly do: "clear"; readonly key: string }
  | { readonly do: "turn" }
  | { readonly do: "list" }
  | { readonly do: "wait"; readonly ms: number };

const keys = ["", "gold", "basic"];
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constantFrom("put" as const, "put" as const, "remove" as const),
        key: fc.constantFrom(...keys),
        typeUrl: fc.constantFrom(route, cluster),
        name: fc.constantFrom("a", "b", "c"),
        to: fc.constantFrom("", "a", "b", "ab", "bc", "d"),
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

/** What is put, by key, type and name: of a route where it leads. */
class Model {
  readonly content = new Map<string, string>();

  /** What dangles, as `KEY>NAME`, from nothing but what is put. */
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
        // Each is told once when it begins, and once when it ends.
        expect(told.has(id)).toBe(event.kind === "resolved");
        if (event.kind === "dangling") told.add(id);
        else told.delete(id);
      });
      for (const step of history) {
        if (step.do === "wait") clock.advance(step.ms);
        else if (step.do === "list") expect(listed(watch)).toEqual(model.dangling());
        else if (step.do === "turn") {
          await Promise.resolve();
          expect([...told].sort()).toEqual(model.dangling());
        } else if (step.do === "clear") {
          nodes.of(step.key).clear();
          for (const id of model.content.keys())
            if (id.startsWith(`${step.key}|`)) model.content.delete(id);
        } else {
          const layer = step.key === "" ? nodes.shared : nodes.of(step.key);
          const id = `${step.key}|${step.typeUrl}|${step.name}`;
          if (step.do === "put") {
            layer.put({
              typeUrl: step.typeUrl,
              name: step.name,
              value: new TextEncoder().encode(step.to),
            });
            model.content.set(id, step.to);
          } else {
            layer.remove(step.typeUrl, step.name);
            model.content.delete(id);
          }
        }
      }
      await Promise.resolve();
      expect([...told].sort()).toEqual(model.dangling());
      expect(listed(watch)).toEqual(model.dangling());
      await nodes.close();
    }),
    { numRuns: 300 },
  );
});
