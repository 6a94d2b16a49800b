import { createSeededRandom, type SeededRandom } from "@xdstp/testing";
import { expect, it } from "vitest";

import { of, redirect, resource, scene, T, type Scene } from "../../test/scene.ts";
import { turn } from "../../test/turn.ts";

const GLOB = `${of("a", "ns/*")}#alt=${of("b", "ns/*")}`;
const IDS = ["m", "n", "o", "p"] as const;

/** What each side has: its text, by id. A member that leads elsewhere has the text of its target. */
type Sides = Readonly<Record<"a" | "b", Map<string, string>>>;

function change({ at }: Scene, sides: Sides, random: SeededRandom, step: number): void {
  const side = random.pick(["a", "b"] as const);
  const id = random.pick(IDS);
  const text = `${side}${step}`;
  const name = of(side, `ns/${id}`);
  sides[side].delete(id);
  if (random.once(4)) { at(side).remove(T, name); return; }
  sides[side].set(id, text);
  if (!random.once(3)) { at(side).put(T, resource(name, text)); return; }
  at("c").put(T, resource(of("c", text), text));
  at(side).put(T, redirect(name, of("c", text)));
}

async function live(seed: number): Promise<void> {
  const random = createSeededRandom(seed);
  const impatient = random.once(2);
  const world = await scene(["a", "b", "c"], { random: () => random.next(), altOnUnreachable: () => impatient });
  const { at, watch, pass, federation, clock, cache } = world;
  const sides: Sides = { a: new Map(), b: new Map() };
  const watcher = { wake: () => { look(); } };
  let watched = watch(GLOB);
  const mixed: string[] = [];
  const look = (): void => {
    const shown = watched.topic.members().flatMap(({ resource: held }) => (held === undefined ? [] : [new TextDecoder().decode(held.payload.value)]));
    const seen = new Set(shown.map((text) => text.charAt(0)));
    if (seen.size > 1) mixed.push(`seed ${seed}: ${shown.join(" ")}`);
  };
  watched.topic.watch(watcher);
  for (let step = 0; step < 60; step++) {
    const lot = random.below(10);
    if (lot < 6) change(world, sides, random, step);
    else if (lot < 9) at(random.pick(["a", "a", "b", "c"])).fail(random.once(2) ? "down" : undefined);
    else if (random.once(3)) { watched.close(); watched.topic.unwatch(watcher); watched = watch(GLOB); watched.topic.watch(watcher); }
    await turn();
    if (random.once(3)) await pass(random.below(4_000));
  }
  expect(mixed).toEqual([]);
  for (const id of ["a", "b", "c"]) at(id).fail(undefined);
  for (let rests = 0; rests < 4; rests++) await pass(6_000);
  expect([seed, watched.members]).toEqual([seed, [...sides.a].map(([id, text]) => `${id}=${text}`).sort().join(" ")]);
  watched.close();
  watched.topic.unwatch(watcher);
  await pass(0);
  await pass(20_000);
  expect([seed, federation.traces(), clock.pending, cache.counters.resources, ["a", "b", "c"].filter((id) => at(id).isOpen)]).toEqual([seed, [], 0, 0, []]);
}

it("never mixes two sides, ends on the first, and leaves nothing behind, whatever happens [C-ALT-4, C-ALT-7]", async () => {
  for (let seed = 1; seed <= 40; seed++) await live(seed);
});
