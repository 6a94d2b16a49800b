import type * as Uri from "@xdstp/uri";
import { expect, vi } from "vitest";
import { begin } from "../harness/accept-all.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { payloadOf } from "../harness/payload.ts";
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

/** Returns the number of names that were read during a call. */
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
  {
    rules: ["S-LIM-6", "S-MISS-1"],
    title: "looks up removals that wait once for all missing names of a request",
    variants: ["delta/ads"],
    world: {
      types: [
        { typeUrl: FULL, refersTo: [PART] },
        { typeUrl: PART, follows: [{ typeUrl: FULL, when: "accepted" }] },
      ],
    },
    run(world) {
      world.put(PART, "unanswered");
      world.cache.transaction((writer) => {
        for (const name of names("a")) writer.put({ typeUrl: FULL, name, value: payloadOf(name) });
      });
      const peer = world.connect();
      const client = peer.of(FULL);
      begin(world, client, ...names("a"));
      peer.of(PART).subscribe("unanswered");
      world.run();
      const askFor = (missing: readonly string[]): number => {
        client.change({ add: missing });
        const count = namesRead(() => {
          world.run();
        });
        const [answer] = client.rest();
        expect(answer?.removed).toHaveLength(many);
        if (answer !== undefined) client.ack(answer);
        world.run();
        return count;
      };
      const before = askFor(names("b"));
      world.cache.transaction((writer) => {
        for (const name of names("a")) writer.remove(FULL, name);
      });
      world.run();
      expect(client.rest()).toEqual([]);
      const waiting = askFor(names("c"));
      expect(before).toBeGreaterThanOrEqual(many);
      expect(waiting - before).toBeLessThanOrEqual(4 * many);
    },
  },
]);
