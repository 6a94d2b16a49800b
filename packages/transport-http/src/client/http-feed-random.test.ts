import { createCache } from "@xdstp/cache";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import { createSeededRandom } from "@xdstp/testing";
import { expect, it } from "vitest";

import { useEdges } from "../../test/use-edges.ts";
import { nameOf, secondsOf, turns, useHttp } from "../../test/use-http.ts";
import { createHttpFeed } from "./index.ts";

const first = Number(process.env.XDSTP_SEED ?? Math.floor(Math.random() * 2 ** 31));
const seeds = Math.ceil(1_000 * Number(process.env.XDSTP_SCALE ?? 0.01));
const ids = ["a", "b"];

/** The states of a name in their order; 0: it does not exist. */
interface History {
  readonly name: string;
  readonly made: number[];
  readonly seen: number[];
}

/** Returns true if states were skipped at most, and none came after a later one. */
function isForward({ made, seen }: History): boolean {
  let from = 0;
  return seen.every((state) => {
    const at = made.indexOf(state, from);
    from = at + 1;
    return at !== -1;
  });
}

/** Runs a feed behind two caches, with faults for a while and without them at the end. */
async function run(seed: number): Promise<readonly History[]> {
  const random = createSeededRandom(seed);
  const http = useHttp();
  const edges = useEdges(http, random.fork(1));
  const cache = createCache({ types: envoyTypes, clock: http.clock });
  cache.addFeed(
    createHttpFeed({ fetch: edges.fetch, clock: http.clock, random: () => random.next() }),
  );
  const histories = ids.map((id) => {
    const history: History = { name: nameOf(id), made: [0], seen: [] };
    const topic = cache.topic(clusters.typeUrl, { name: history.name });
    topic.watch({
      wake() {
        if (!topic.settled) return;
        const [entry] = topic.members();
        const state = entry?.resource === undefined ? 0 : secondsOf(entry.resource.payload.value);
        if (history.seen.at(-1) !== state) history.seen.push(state);
      },
    });
    return history;
  });
  const pass = async (ms: number): Promise<void> => {
    await turns();
    http.clock.advance(ms);
    await turns();
  };
  edges.isLossy = true;
  let made = 0;
  for (let step = 0; step < 60; step++) {
    const { name, made: states } = random.pick(histories);
    const lot = random.below(10);
    if (lot < 3) {
      http.put(name, ++made);
      states.push(made);
    } else if (lot < 5 && states.at(-1) !== 0) {
      http.remove(name);
      states.push(0);
    } else if (lot < 6) edges.isDown = !edges.isDown;
    else await pass(random.below(8_000));
  }
  edges.isLossy = false;
  edges.isDown = false;
  for (let second = 0; second < 400; second++) await pass(1_000);
  await cache.close();
  return histories;
}

it(`shows each name forward only, and its last state at the end, behind caches with lost, late and old answers (${seeds} new seeds) [S-HTTP-14] [C-HTTP-7]`, async () => {
  for (let seed = first; seed < first + seeds; seed++)
    for (const history of await run(seed)) {
      const { made, seen } = history;
      expect({ seed, made, seen, isForward: isForward(history) }).toMatchObject({
        isForward: true,
      });
      expect({ seed, made, last: seen.at(-1) }).toMatchObject({ last: made.at(-1) });
    }
}, 300_000);
