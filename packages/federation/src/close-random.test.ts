import { createSeededRandom, type SeededRandom } from "@xdstp/testing";
import { expect, it } from "vitest";

import { of, redirect, resource, scene, T, type Scene, type Watched } from "../test/scene.ts";
import { turn } from "../test/turn.ts";

const SERVERS = ["a", "a2", "b", "c"] as const;
const NAMES = [
  of("a", "ns/*"),
  `${of("a", "ns/*")}#alt=${of("b", "ns/*")}`,
  of("a", "ns/m"),
  `${of("a", "ns/m")}#alt=${of("b", "ns/m")}`,
  of("b", "ns/n"),
];

function put({ at }: Scene, random: SeededRandom): void {
  const server = random.pick(SERVERS);
  const name = of(server.charAt(0), `ns/${random.pick(["m", "n"])}`);
  const content = random.once(3)
    ? redirect(name, of(random.pick(["a", "b", "c"]), `ns/${random.pick(["m", "n"])}`))
    : resource(name, `${random.below(5)}`);
  at(server).put(T, { ...content, ...(random.once(2) && { expireMs: 1 + random.below(5_000) }) });
}

function toggle({ watch }: Scene, random: SeededRandom, open: Map<string, Watched>): void {
  const name = random.pick(NAMES);
  open.get(name)?.close();
  if (!open.delete(name)) open.set(name, watch(name));
}

async function live(
  world: Scene,
  random: SeededRandom,
  steps: number,
  open: Map<string, Watched>,
): Promise<void> {
  for (let step = 0; step < steps; step++) {
    const lot = random.below(10);
    if (lot < 3) toggle(world, random, open);
    else if (lot < 7) put(world, random);
    else if (lot < 8) world.at(random.pick(SERVERS)).fail(random.once(2) ? "down" : undefined);
    else if (lot < 9) await turn();
    else await world.pass(random.below(3_000));
  }
}

it("leaves no timer and no server behind, whenever it is closed, whatever servers still say and readers still want [C-STREAM-14]", async () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = createSeededRandom(seed);
    const world = await scene(
      { a: ["a", "a2"], b: ["b"], c: ["c"] },
      { random: () => random.next(), altOnUnreachable: () => random.once(2) },
    );
    const open = new Map<string, Watched>();
    await live(world, random, random.below(60), open);
    const closing = world.cache.close();
    for (let n = random.below(6); n > 0; n--) {
      if (random.once(4)) toggle(world, random, open);
      else put(world, random);
      // The end takes several steps of one turn.
      await Promise.resolve();
    }
    await closing;
    await turn();
    expect([seed, world.clock.pending, SERVERS.filter((id) => world.at(id).isOpen)]).toEqual([
      seed,
      0,
      [],
    ]);
  }
});
