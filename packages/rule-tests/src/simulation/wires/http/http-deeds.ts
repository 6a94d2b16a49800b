import type { SeededRandom } from "@xdstp/testing";

import type { TimedStep } from "../../run-scenario.ts";
import type { Rest } from "../wire-world.ts";
import type { HttpShape } from "./http-shape.ts";

/** The new state of one id. */
export type HttpChange =
  | { readonly kind: "remove"; readonly id: string }
  /** Absent text: a new one. The same text has the same version again. */
  | { readonly kind: "put"; readonly id: string; readonly text?: string }
  | { readonly kind: "redirect"; readonly id: string; readonly target: string };

/** A deed on a world of native HTTP. It is valid in every state. */
export type HttpDeed =
  | {
      readonly kind: "commit";
      readonly changes: readonly HttpChange[];
      /** Milliseconds after which each replica reads the change. */
      readonly lagMs: readonly number[];
    }
  | { readonly kind: "watch" | "unwatch"; readonly client: number; readonly id: string }
  | { readonly kind: "start"; readonly replica: number }
  | { readonly kind: "stop"; readonly replica: number; readonly crash: boolean }
  | { readonly kind: "die"; readonly crash: boolean }
  | { readonly kind: "storm"; readonly ms: number }
  | { readonly kind: "cut-off"; readonly edge: number; readonly ms: number }
  | { readonly kind: "purge"; readonly edge: number }
  | Rest;

const RESOURCES = ["a", "b", "c", "d"] as const;
/** Ids that may lead to resources. */
const ENTRIES = ["x", "y"] as const;
export const httpIds: readonly string[] = [...RESOURCES, ...ENTRIES];

/** Returns true for an id that may lead to others. */
export function isEntry(id: string): boolean {
  return ENTRIES.some((entry) => entry === id);
}

/** The number of deeds in a round. */
const ROUND = 60;

/** Draws some deeds and a rest, without a look at the world. */
export function drawHttpRound(
  random: SeededRandom,
  shape: HttpShape,
): readonly TimedStep<HttpDeed>[] {
  const step = (): TimedStep<HttpDeed> => ({ waitMs: waitOf(random), deed: deedOf(random, shape) });
  return [
    ...Array.from({ length: ROUND }, step),
    { waitMs: waitOf(random), deed: { kind: "rest" } },
  ];
}

function waitOf(random: SeededRandom): number {
  if (random.once(40)) return random.between(20_000, 100_000);
  if (random.once(4)) return random.between(1_000, 8_000);
  return random.below(600);
}

function deedOf(random: SeededRandom, shape: HttpShape): HttpDeed {
  const lot = random.below(100);
  if (lot < 50)
    return {
      kind: "commit",
      changes: Array.from({ length: random.between(1, 3) }, () => changeOf(random)),
      lagMs: Array.from({ length: shape.replicas }, () =>
        random.once(3) ? random.below(4_000) : 0,
      ),
    };
  if (lot < 76)
    return {
      kind: lot < 68 ? "watch" : "unwatch",
      client: random.below(shape.clients.length),
      id: random.pick(httpIds),
    };
  if (lot < 84) return { kind: "start", replica: random.below(shape.replicas) };
  if (lot < 89)
    return { kind: "stop", replica: random.below(shape.replicas), crash: random.once(2) };
  if (lot < 91) return { kind: "die", crash: random.once(2) };
  if (lot < 95) return { kind: "storm", ms: random.between(1_000, 30_000) };
  const edge = random.below(shape.edges.length);
  return lot < 98
    ? { kind: "cut-off", edge, ms: random.between(500, 20_000) }
    : { kind: "purge", edge };
}

function changeOf(random: SeededRandom): HttpChange {
  const isEntry = random.once(5);
  const id = isEntry ? random.pick(ENTRIES) : random.pick(RESOURCES);
  if (random.once(3)) return { kind: "remove", id };
  return isEntry && random.once(2)
    ? { kind: "redirect", id, target: random.pick(RESOURCES) }
    : { kind: "put", id, ...(random.once(2) && { text: random.pick(["p", "q"]) }) };
}

/** Returns a line for people. */
export function describeHttpDeed(deed: HttpDeed): string {
  switch (deed.kind) {
    case "commit":
      return `the store: ${deed.changes.map(describeChange).join("; ")}; the replicas read it after ${deed.lagMs.join(", ")} ms`;
    case "watch":
    case "unwatch":
      return `client ${deed.client} ${deed.kind}es ${deed.id}`;
    case "start":
      return `replica ${deed.replica} starts`;
    case "stop":
      return `replica ${deed.replica} ${deed.crash ? "crashes" : "stops"}`;
    case "die":
      return `all replicas ${deed.crash ? "crash" : "stop"}`;
    case "storm":
      return `a storm of ${deed.ms} ms: messages are late, and some are lost`;
    case "cut-off":
      return `cache ${deed.edge} cannot reach the origin for ${deed.ms} ms`;
    case "purge":
      return `cache ${deed.edge} forgets all answers`;
    case "rest":
      return "rest: no more faults";
  }
}

function describeChange(change: HttpChange): string {
  switch (change.kind) {
    case "redirect":
      return `${change.id} leads to ${change.target}`;
    case "put":
      return `put ${change.id} = ${change.text ?? "a new text"}`;
    case "remove":
      return `remove ${change.id}`;
  }
}

/** Returns transactions of fewer changes, and those that all replicas read at once. */
export function simplerHttpDeeds(deed: HttpDeed): readonly HttpDeed[] {
  if (deed.kind !== "commit") return [];
  const fewer =
    deed.changes.length < 2
      ? []
      : deed.changes.map((_, index) => ({ ...deed, changes: deed.changes.toSpliced(index, 1) }));
  const atOnce = deed.lagMs.every((ms) => ms === 0)
    ? []
    : [{ ...deed, lagMs: deed.lagMs.map(() => 0) }];
  return [...fewer, ...atOnce];
}
