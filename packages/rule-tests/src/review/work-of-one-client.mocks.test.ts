import type * as Uri from "@xdstp/uri";
import { expect, vi } from "vitest";
import { PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import { deltaVariants } from "../harness/variant.ts";

const read = vi.hoisted(() => ({ names: 0 }));

vi.mock("@xdstp/uri", async (original) => {
  const uri = await original<typeof Uri>();
  return {
    ...uri,
    nameKey: (text: string) => {
      read.names++;
      return uri.nameKey(text);
    },
  };
});

/** How often a name was read meanwhile. */
function namesRead(act: () => void): number {
  read.names = 0;
  act();
  return read.names;
}

const many = 2_000;
const names = (prefix: string): readonly string[] =>
  Array.from({ length: many }, (_, index) => `${prefix}${index}`);

runCases("the work for one client", [
  {
    rules: ["S-LIM-6", "S-DSUB-12"],
    title:
      "grows with what a request names, not with what came and went while a response was unanswered",
    variants: deltaVariants,
    run(world) {
      const client = world.connect().of(PART);
      client.subscribe("unanswered");
      world.run();
      const first = namesRead(() => {
        client.change({ add: names("a") });
        client.change({ drop: names("a") });
      });
      const later = namesRead(() => {
        client.change({ add: names("b") });
        client.change({ drop: names("b") });
      });
      expect(first).toBeGreaterThanOrEqual(2 * many);
      expect(later).toBe(first);
    },
  },
]);
