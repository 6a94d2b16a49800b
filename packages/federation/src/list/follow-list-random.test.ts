import { createSeededRandom, type SeededRandom } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { show, useList, useScene, type Scene } from "../../test/follow.ts";
import { inline, located, locatedByText } from "../../test/lists.ts";
import { turn } from "../../test/turn.ts";
import type { FollowedList, ListMember } from "./list-member.ts";

/** 20,000 if XDSTP_SCALE is 1. */
const runs = Math.max(100, Math.round(20_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

const L = "xdstp://a/acme.v1.FlagCollection/l";
const ids = ["p", "q", "r", "s"] as const;
const at = (id: string): string => `xdstp://a/acme.v1.Flag/${id}`;
/** The kinds of locators for a member with an id. */
const ways = [
  (id: string) => at(id),
  (id: string) => `${at(id)}#alt=xdstp://b/acme.v1.Flag/${id}`,
] as const;

/** One entry: its text, or its locator. */
type Entry = { readonly id: string; readonly bytes: Uint8Array } & (
  { readonly locator: string } | { readonly shows: string }
);

/** The expected state of a list, by the simplest definition. */
interface Model {
  entries: readonly Entry[];
  /**
   * The content of each name: a text with its version. `null`: it does not exist. Absent: nothing
   * is known.
   */
  readonly held: Map<string, string | null>;
  /** The text of each member, by id. */
  shown: Map<string, string>;
}

function entryOf(random: SeededRandom): Entry {
  const id = random.pick(ids);
  if (random.once(2)) {
    const locator = random.pick(ways)(id);
    return { id, locator, bytes: random.pick([located, locatedByText])(locator) };
  }
  const [text, version] = [String(random.below(3)), `v${random.below(2)}`];
  return { id, shows: `=${text}@${version}`, bytes: inline(id, text, version) };
}

/** Returns each id once, at its first place. */
function listed({ entries }: Model): readonly Entry[] {
  return entries.filter((entry) => entries.find(({ id }) => id === entry.id) === entry);
}

/** Returns the locators of a list. */
function locatorsOf(model: Model): readonly string[] {
  return listed(model).flatMap((entry) => ("locator" in entry ? [entry.locator] : []));
}

/**
 * Returns the expected members. A member that is now located keeps its text until something is
 * known of its locator.
 */
function look(model: Model): Map<string, string> {
  const { held, shown } = model;
  return new Map(
    listed(model).map((entry) => {
      if ("shows" in entry) return [entry.id, entry.shows];
      const known = held.get(entry.locator);
      const before = shown.get(entry.id);
      return [
        entry.id,
        known === null
          ? " missing !NOT_FOUND"
          : (known ?? (before?.startsWith("=") === true ? before : " pending")),
      ];
    }),
  );
}

/** Changes the list, or the content of a subscribed name. */
function change(random: SeededRandom, scene: Scene, model: Model): void {
  const locators = locatorsOf(model).filter((locator) => scene.wanted.has(locator));
  if (locators.length > 0 && !random.once(3)) {
    const locator = random.pick(locators);
    const [text, version] = [String(random.below(3)), `v${random.below(2)}`];
    const gone = random.once(4);
    model.held.set(locator, gone ? null : `=${text}@${version}`);
    if (gone) scene.remove(locator);
    else scene.put(locator, text, version);
    return;
  }
  const entries = random.once(8)
    ? [...model.entries].reverse()
    : Array.from({ length: random.below(6) }, () => entryOf(random));
  const named = new Set<string>();
  // A list with the same inline name twice is invalid (B-LIST-4).
  model.entries = entries.filter(
    (entry) => "locator" in entry || named.size < named.add(entry.id).size,
  );
  scene.putList(L, ...model.entries.map(({ bytes }) => bytes));
}

/** Compares the list with the model, and returns the present members. */
function check(
  list: FollowedList,
  model: Model,
  before: readonly ListMember[],
  where: string,
): readonly ListMember[] {
  model.shown = look(model);
  const { members } = list;
  expect(members.map(show), where).toEqual([...model.shown].map(([id, shows]) => `${id}${shows}`));
  expect(list.settled, `${where}: settled`).toBe(
    locatorsOf(model).every((locator) => model.held.has(locator)),
  );
  for (const member of members) {
    const same = before.find((one) => one.name === member.name);
    if (same !== undefined && show(same) === show(member))
      expect(member, `${where}: ${member.name} is not another one`).toBe(same);
  }
  return members;
}

async function run(seed: number): Promise<void> {
  const random = createSeededRandom(seed);
  const scene = await useScene();
  const list = useList(scene, L);
  const model: Model = { entries: [], held: new Map(), shown: new Map() };
  scene.putList(L);
  let members: readonly ListMember[] = [];
  for (let step = 0; step < 30; step++) {
    change(random, scene, model);
    members = check(list, model, members, `seed ${seed}, step ${step}`);
    if (random.once(2)) continue;
    await turn();
    const wanted = new Set(locatorsOf(model));
    expect([...scene.wanted].sort(), `seed ${seed}, step ${step}: wanted`).toEqual(
      [L, ...wanted].sort(),
    );
    // Names without subscribers are removed.
    for (const name of model.held.keys()) if (!wanted.has(name)) model.held.delete(name);
  }
}

describe("a list through random states", () => {
  it(`shows what a naive model shows, and wants what that wants, ${runs} times [C-LIST-5] [C-LIST-6] [C-LIST-8] [C-LIST-9]`, async () => {
    for (let n = 0; n < runs; n++) await run(firstSeed + n);
  });
});
