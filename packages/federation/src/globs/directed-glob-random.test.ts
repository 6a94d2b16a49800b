import { createSeededRandom, type SeededRandom } from "@xdstp/testing";
import { expect, it } from "vitest";

import { of, redirect, resource, scene, T, type Scene, type Watched } from "../../test/scene.ts";
import { turn } from "../../test/turn.ts";

const GLOB = `${of("a", "ns/*")}#alt=${of("b", "ns/*")}`;
const IDS = ["m", "n", "o", "p"] as const;
/** Names with the same alternative that are not members of the glob, and choose by themselves. */
const NAMES = IDS.slice(0, 2).map((id) => `${of("a", `ns/${id}`)}#alt=${of("b", `ns/${id}`)}`);

/**
 * The contents of each side: texts, by id. A member that leads elsewhere has the text of its
 * target.
 */
type Sides = Readonly<Record<"a" | "b", Map<string, string>>>;

function change({ at }: Scene, sides: Sides, random: SeededRandom, step: number): void {
  const side = random.pick(["a", "b"] as const);
  const id = random.pick(IDS);
  const text = `${side}${step}`;
  const name = of(side, `ns/${id}`);
  sides[side].delete(id);
  if (random.once(4)) {
    at(side).remove(T, name);
    return;
  }
  sides[side].set(id, text);
  if (!random.once(3)) {
    at(side).put(T, resource(name, text));
    return;
  }
  at("c").put(T, resource(of("c", text), text));
  at(side).put(T, redirect(name, of("c", text)));
}

/** The watched names, each with one of two sets of parameters, as `p NAME` or `q NAME`. */
const INTERESTS = [GLOB, ...NAMES].flatMap((name) => [`p ${name}`, `q ${name}`]);

/** Watches on some of these, which begin and end at random. */
class Watches {
  readonly open = new Map<string, Watched>();
  readonly #scene: Scene;
  readonly #watcher: { readonly wake: () => void };

  constructor(scene: Scene, wake: () => void) {
    this.#scene = scene;
    this.#watcher = { wake };
  }

  /** The watches on the glob. */
  get globs(): readonly Watched[] {
    return [...this.open].flatMap(([interest, watched]) =>
      interest.endsWith(GLOB) ? [watched] : [],
    );
  }

  begin(interest: string): void {
    const watched = this.#scene.watch(interest.slice(2), T, new Map([["set", interest.charAt(0)]]));
    watched.topic.watch(this.#watcher);
    this.open.set(interest, watched);
  }

  end(interest: string): void {
    const watched = this.open.get(interest);
    watched?.close();
    watched?.topic.unwatch(this.#watcher);
    this.open.delete(interest);
  }

  toggle(interest: string): void {
    if (this.open.has(interest)) this.end(interest);
    else this.begin(interest);
  }
}

async function live(seed: number): Promise<void> {
  const random = createSeededRandom(seed);
  const impatient = random.once(2);
  const world = await scene(["a", "b", "c"], {
    random: () => random.next(),
    altOnUnreachable: () => impatient,
  });
  const { at, pass, federation, clock, cache } = world;
  const sides: Sides = { a: new Map(), b: new Map() };
  const mixed: string[] = [];
  const watches = new Watches(world, () => {
    const shown = watches.globs
      .flatMap(({ topic }) => topic.members())
      .flatMap(({ resource: held }) =>
        held === undefined ? [] : [new TextDecoder().decode(held.payload.value)],
      );
    if (new Set(shown.map((text) => text.charAt(0))).size > 1)
      mixed.push(`seed ${seed}: ${shown.join(" ")}`);
  });
  watches.begin(`p ${GLOB}`);
  for (let step = 0; step < 60; step++) {
    const lot = random.below(10);
    if (lot < 5) change(world, sides, random, step);
    else if (lot < 8)
      at(random.pick(["a", "a", "b", "c"])).fail(random.once(2) ? "down" : undefined);
    else if (lot < 9) watches.toggle(random.pick(INTERESTS));
    else if (random.once(3))
      for (const interest of INTERESTS.slice(0, 2))
        if (watches.open.has(interest)) {
          watches.end(interest);
          watches.begin(interest);
        }
    await turn();
    if (random.once(3)) await pass(random.below(4_000));
  }
  expect(mixed).toEqual([]);
  for (const id of ["a", "b", "c"]) at(id).fail(undefined);
  for (let rests = 0; rests < 4; rests++) await pass(6_000);
  for (const { members } of watches.globs)
    expect([seed, members]).toEqual([
      seed,
      [...sides.a]
        .map(([id, text]) => `${id}=${text}`)
        .sort()
        .join(" "),
    ]);
  for (const [interest, { now }] of watches.open)
    if (!interest.endsWith(GLOB))
      expect([seed, interest, now.replace(/^- .*does not exist$/, "-")]).toEqual([
        seed,
        interest,
        sides.a.get(/ns\/(.)/.exec(interest)?.[1] ?? "") ?? "-",
      ]);
  for (const name of [...watches.open.keys()]) watches.end(name);
  await pass(0);
  await pass(20_000);
  expect([
    seed,
    federation.traces(),
    clock.pending,
    cache.counters.resources,
    ["a", "b", "c"].filter((id) => at(id).isOpen),
  ]).toEqual([seed, [], 0, 0, []]);
}

it("never mixes two sides, ends on the first, and leaves nothing behind, whatever happens, beside names with the same alternative, and with whatever parameters [C-ALT-4, C-ALT-7]", async () => {
  for (let seed = 1; seed <= 60; seed++) await live(seed);
});
