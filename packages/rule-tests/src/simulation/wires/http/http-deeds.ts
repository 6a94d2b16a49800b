import type { SeededRandom } from "@xdstp/testing";

import type { TimedStep } from "../../run-scenario.ts";
import {
  type Commit,
  describeCommit,
  describeReplicaDeed,
  drawLags,
  drawRound,
  type ReplicaDeed,
} from "../origin-deeds.ts";
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
  | Commit<HttpChange>
  | ReplicaDeed
  | { readonly kind: "watch" | "unwatch"; readonly client: number; readonly id: string }
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

/** Draws some deeds and a rest, without a look at the world. */
export function drawHttpRound(
  random: SeededRandom,
  shape: HttpShape,
): readonly TimedStep<HttpDeed>[] {
  return drawRound<HttpDeed>({ wait: () => waitOf(random), deed: () => deedOf(random, shape) });
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
      lagMs: drawLags(random, shape.replicas),
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
      return describeCommit(deed, describeChange);
    case "watch":
    case "unwatch":
      return `client ${deed.client} ${deed.kind}es ${deed.id}`;
    case "cut-off":
      return `cache ${deed.edge} cannot reach the origin for ${deed.ms} ms`;
    case "purge":
      return `cache ${deed.edge} forgets all answers`;
    case "rest":
      return "rest: no more faults";
    default:
      return describeReplicaDeed(deed);
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
