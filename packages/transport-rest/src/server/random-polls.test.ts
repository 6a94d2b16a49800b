import { createSeededRandom } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import {
  endpointsPath,
  path as clustersPath,
  type Rest,
  turns,
  useRest,
} from "../../test/use-rest.ts";

const allNames = ["a", "b", "c"];

/** The fate of an answer. The server does not notice that one "is lost". */
type Fate = "arrives" | "never leaves" | "is lost";

/** Each fourth state is one that a client which rejects any would reject. */
const isBad = (value: number): boolean => value % 4 === 0;

/** The kind of client. */
interface Habits {
  readonly rejects: "nothing" | "with an error" | "silently";
  readonly hasNonce: boolean;
  /** True: all clusters. False: endpoints by name, of which a response has only those that changed. */
  readonly isFull: boolean;
}

interface ModelClient {
  /** The numbers of what it has. */
  readonly held: ReadonlyMap<string, number>;
  readonly names: readonly string[];
  /** Subscribes to these names from the next poll on. */
  ask(names: readonly string[]): void;
  restart(): void;
  poll(fate: Fate): Promise<void>;
}

/** A client of a random test. What it has are the numbers of its resources, which only grow. */
function createModelClient(rest: Rest, habits: Habits): ModelClient {
  let version = "";
  let nonce = "";
  let error: string | undefined;
  let names: readonly string[] = ["a"];
  const held = new Map<string, number>();
  return {
    held,
    get names() {
      return names;
    },
    ask(next: readonly string[]) {
      names = next;
    },
    restart() {
      version = "";
      nonce = "";
      error = undefined;
      held.clear();
    },
    async poll(fate: Fate) {
      if (!habits.isFull)
        for (const name of held.keys()) if (!names.includes(name)) held.delete(name);
      const answer = await rest.poll(
        {
          version,
          names: habits.isFull ? [] : names,
          path: habits.isFull ? clustersPath : endpointsPath,
          ...(habits.hasNonce && { nonce }),
          ...(error !== undefined && { error }),
        },
        { lost: fate === "never leaves" },
      );
      if (fate !== "arrives" || answer.status === 304) return;
      expect(answer.status).toBe(200);
      nonce = answer.nonce;
      const got = new Map(
        [...answer.clusters, ...answer.endpoints].map((text) => {
          const [name = "", value = ""] = text.split("=");
          return [name, Number(value)] as const;
        }),
      );
      if (habits.rejects !== "nothing" && [...got.values()].some(isBad)) {
        if (habits.rejects === "with an error") error = "bad";
        return;
      }
      for (const [name, value] of got)
        expect(value, `${name} goes back in time`).toBeGreaterThanOrEqual(held.get(name) ?? 0);
      if (habits.isFull) held.clear();
      for (const [name, value] of got) held.set(name, value);
      version = answer.version;
      error = undefined;
    },
  };
}

const kinds: readonly Habits[] = (["nothing", "with an error", "silently"] as const).flatMap(
  (rejects) =>
    [true, false].flatMap((hasNonce) =>
      [true, false].map((isFull) => ({ rejects, hasNonce, isFull })),
    ),
);
const SEEDS = [16, 26, 27, 39, 54];

describe.each(kinds)(
  "a client that rejects: $rejects; with a nonce: $hasNonce; of a full state: $isFull",
  (habits) => {
    it.each(SEEDS)(
      "never goes back, and has the state of the server in the end: seed %i [S-REST-3] [S-REST-4]",
      async (seed) => {
        const random = createSeededRandom(seed);
        const rest = useRest();
        const client = createModelClient(rest, habits);
        const state = new Map<string, number>();
        let last = 0;
        const put = (name: string): void => {
          last += 1;
          state.set(name, last);
          if (habits.isFull) rest.put(name, last);
          else rest.putEndpoints(name, last);
        };
        // Without a nonce, an error does not say which of two responses it is for.
        const fates: readonly Fate[] =
          habits.rejects === "with an error" && !habits.hasNonce
            ? ["arrives", "arrives", "never leaves"]
            : ["arrives", "arrives", "arrives", "never leaves", "is lost"];
        for (let step = 0; step < 40; step++) {
          const event = random.below(16);
          if (event < 5) put(random.pick(allNames));
          else if (event === 5) client.ask(random.pick([["a"], ["a", "b"], ["b"], allNames]));
          else if (event === 6 && random.once(3)) client.restart();
          else if (event === 7 && random.once(3)) rest.handler.close();
          else if (event === 8) rest.clock.advance(random.pick([1_000, 15_000]));
          else if (event === 9) await turns();
          else await client.poll(random.pick(fates));
        }
        // The states that are rejected for good are replaced.
        if (habits.rejects !== "nothing")
          for (const [name, value] of state) {
            if (!isBad(value)) continue;
            if (isBad(last + 1)) last += 1;
            put(name);
          }
        for (let time = 0; time < 14; time++) {
          await client.poll("arrives");
          rest.clock.advance(30_000);
        }
        const wanted = [...state].filter(([name]) => habits.isFull || client.names.includes(name));
        expect([...client.held].sort()).toEqual(wanted.sort());
        if (wanted.length > 0)
          expect(rest.server.status()).toMatchObject([{ types: [{ state: "SYNCED" }] }]);
      },
    );
  },
);
