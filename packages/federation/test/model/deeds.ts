import type { SeededRandom } from "@xdstp/testing";

import { chained, LIST, nameOf, THING, uriOf, type Content, type Place } from "./names.ts";

export const AUTHORITIES = ["a", "b", "c"] as const;
const IDS = ["x", "y", "z", "g/m", "g/n"] as const;
const LISTS = ["l", "k"] as const;
const ENTRIES = ["one", "two"] as const;
export const SERVERS = 4;

/** One name of a store and its new content. Without a content, the name is removed. */
export interface Change {
  readonly typeUrl: string;
  readonly name: string;
  readonly content: Content | undefined;
}

/**
 * One step of a history. It is possible in every state of the world, so any part of a history is a
 * history too.
 */
export type Deed =
  | { readonly kind: "put"; readonly server: number; readonly changes: readonly Change[] }
  | {
      readonly kind: "watch" | "unwatch";
      readonly typeUrl: string;
      readonly name: string;
      readonly place: Place | undefined;
      readonly sides?: readonly Place[];
    }
  | { readonly kind: "turn"; readonly server: number; readonly state: "up" | "down" | "silent" }
  | { readonly kind: "cut"; readonly server: number }
  /** The faults end. Then every watch has to show the result of a walk. */
  | { readonly kind: "rest" };

/** A step at its time, in milliseconds. */
export interface TimedDeed {
  readonly at: number;
  readonly deed: Deed;
}

/**
 * Returns steps drawn from a seed, with a `rest` now and then and at the end.
 * @param globs - True if some globs have alternatives
 */
export function randomDeeds(
  random: SeededRandom,
  count: number,
  globs: boolean,
): readonly TimedDeed[] {
  let at = 0;
  let texts = 0;
  const nextText = (): string => `v${++texts}`;
  return Array.from({ length: count }, (_, index): TimedDeed => {
    at += random.once(12)
      ? random.between(1_000, 20_000)
      : random.below(random.once(3) ? 1_000 : 40);
    return {
      at,
      deed:
        index === count - 1 || random.once(40)
          ? { kind: "rest" }
          : withSides(deedOf(random, nextText), random.fork(index), globs),
    };
  });
}

function deedOf(random: SeededRandom, nextText: () => string): Deed {
  const lot = random.below(100);
  const server = random.below(SERVERS);
  if (lot < 45) return { kind: "put", server, changes: changesOf(random, nextText) };
  if (lot < 82) return { kind: lot < 70 ? "watch" : "unwatch", ...interestOf(random) };
  if (lot < 85) return { kind: "cut", server };
  return { kind: "turn", server, state: random.pick(["up", "up", "down", "silent"] as const) };
}

/**
 * Adds globs with alternatives. It draws from random numbers of its own, so that other steps of a
 * seed did not change when these globs were added.
 */
function withSides(deed: Deed, random: SeededRandom, globs: boolean): Deed {
  if (!globs || !("name" in deed)) return deed;
  if (deed.place?.id.startsWith("g/") === true && random.once(2)) return memberOf(deed, random);
  if (!deed.name.endsWith("/*") || random.once(2)) return deed;
  const id = random.pick(["g/*", "pair/*"]);
  const sides = sidesOf(id, random);
  return sides.length < 2 ? deed : { ...deed, name: uriOf(chained(sides)), sides };
}

/**
 * Returns a name that such a glob may have as a member, subscribed by itself. It chooses its own
 * alternative, and does not affect the members.
 */
function memberOf(deed: Extract<Deed, { name: string }>, random: SeededRandom): Deed {
  const place = chained(sidesOf(random.pick(["g/m", "g/n", "pair/p", "pair/q"]), random));
  return { ...deed, typeUrl: THING, name: uriOf(place), place };
}

/** Returns the same id at some authorities, each once. */
function sidesOf(id: string, random: SeededRandom): readonly Place[] {
  return [
    ...new Set([random.pick(AUTHORITIES), random.pick(AUTHORITIES), random.pick(AUTHORITIES)]),
  ].map((authority) => ({ authority, id }));
}

function changesOf(random: SeededRandom, nextText: () => string): readonly Change[] {
  if (random.once(5)) return pairOf(random.pick(AUTHORITIES), nextText());
  const changes = Array.from({ length: random.between(1, 4) }, () => changeOf(random, nextText));
  return [
    ...new Map(changes.map((change) => [`${change.typeUrl} ${change.name}`, change])).values(),
  ];
}

/**
 * Returns two members that change together, so that a reader must never see only one of the
 * changes.
 */
function pairOf(authority: string, text: string): readonly Change[] {
  return ["pair/p", "pair/q"].map((id) => ({
    typeUrl: THING,
    name: nameOf(THING, { authority, id }),
    content: { kind: "text", text: `${text} pair` },
  }));
}

function changeOf(random: SeededRandom, nextText: () => string): Change {
  if (random.once(12))
    return {
      typeUrl: THING,
      name: random.pick(["o1", "o2"]),
      content: random.once(4) ? undefined : { kind: "text", text: nextText() },
    };
  const typeUrl = random.once(4) ? LIST : THING;
  const place = {
    authority: random.pick(AUTHORITIES),
    id: typeUrl === LIST ? random.pick(LISTS) : random.pick(IDS),
  };
  const lot = random.below(10);
  const content =
    lot < 2
      ? undefined
      : lot < 6
        ? { kind: "redirect" as const, to: targetOf(random, typeUrl) }
        : plainOf(random, typeUrl, nextText);
  return { typeUrl, name: nameOf(typeUrl, place), content };
}

function plainOf(random: SeededRandom, typeUrl: string, nextText: () => string): Content {
  if (typeUrl === THING) return { kind: "text", text: nextText() };
  const inline = ENTRIES.filter(() => random.once(2)).map((name) => ({ name, text: nextText() }));
  const located = random.once(3)
    ? [{ to: { authority: random.pick(AUTHORITIES), id: random.pick(IDS) } }]
    : [];
  return { kind: "list", entries: [...inline, ...located] };
}

function targetOf(random: SeededRandom, typeUrl: string): Place {
  const authority = random.once(20) ? "none" : random.pick(AUTHORITIES);
  if (typeUrl === LIST) return { authority, id: random.pick(LISTS) };
  return random.once(4) ? directedOf(random, 1) : { authority, id: random.pick(IDS) };
}

function directedOf(random: SeededRandom, depth: number): Place {
  const entry = random.once(3)
    ? { id: random.pick(LISTS), entry: random.pick([...ENTRIES, "none"]) }
    : { id: random.pick(IDS) };
  const alt =
    depth > 3 || (entry.entry !== undefined && random.once(2))
      ? {}
      : {
          alt: random.once(3)
            ? directedOf(random, depth + 1)
            : { authority: random.pick(AUTHORITIES), id: random.pick(IDS) },
        };
  return { authority: random.pick(AUTHORITIES), ...entry, ...alt };
}

function interestOf(random: SeededRandom): {
  readonly typeUrl: string;
  readonly name: string;
  readonly place: Place | undefined;
} {
  const authority = random.pick(AUTHORITIES);
  const lot = random.below(20);
  if (lot === 0) return { typeUrl: THING, name: "*", place: undefined };
  if (lot < 4)
    return {
      typeUrl: THING,
      name: `xdstp://${authority}/t.T/${random.pick(["*", "g/*", "pair/*"])}`,
      place: undefined,
    };
  if (lot === 4) return { typeUrl: THING, name: random.pick(["o1", "o2"]), place: undefined };
  if (lot < 7) return named(LIST, { authority, id: random.pick(LISTS) });
  if (lot < 13) return named(THING, { authority, id: random.pick(IDS) });
  const place = random.once(3)
    ? { authority, id: random.pick(LISTS), entry: random.pick(ENTRIES) }
    : directedOf(random, 0);
  return { typeUrl: THING, name: uriOf(place), place };
}

function named(
  typeUrl: string,
  place: Place,
): { readonly typeUrl: string; readonly name: string; readonly place: Place } {
  return { typeUrl, name: nameOf(typeUrl, place), place };
}

/** Prints a step in one line. */
export function describeDeed({ at, deed }: TimedDeed): string {
  return `${`${at} ms`.padStart(12)}  ${describe(deed)}`;
}

function describe(deed: Deed): string {
  switch (deed.kind) {
    case "put":
      return `s${deed.server}: ${deed.changes.map(describeChange).join("; ")}`;
    case "watch":
    case "unwatch":
      return `${deed.kind} ${deed.name}`;
    case "turn":
      return `s${deed.server} is ${deed.state}`;
    case "cut":
      return `s${deed.server}: its stream is cut`;
    case "rest":
      return "rest: no more faults";
  }
}

function describeChange({ name, content }: Change): string {
  if (content === undefined) return `remove ${name}`;
  if (content.kind === "redirect") return `${name} -> ${uriOf(content.to)}`;
  return `${name} = ${content.kind === "text" ? content.text : `[${content.entries.map((entry) => ("to" in entry ? uriOf(entry.to) : `${entry.name}: ${entry.text}`)).join(", ")}]`}`;
}
