import type { SeededRandom } from "@xdstp/testing";

import type { TimedStep } from "../../run-scenario.ts";
import type { Rest } from "../wire-world.ts";
import type { PollsShape } from "./polls-shape.ts";

/** The new state of one name: a new text, valid or invalid; a text that it may have had before; or no resource. */
export interface PollChange {
  readonly name: string;
  readonly kind: "good" | "bad" | "usual" | "removed";
}

/** A deed on a world of polls. It is valid in every state. */
export type PollDeed =
  | {
      readonly kind: "commit";
      readonly changes: readonly PollChange[];
      /** Milliseconds after which each replica reads the change. */
      readonly lagMs: readonly number[];
    }
  | { readonly kind: "watch" | "unwatch"; readonly client: number; readonly name: string }
  | { readonly kind: "start"; readonly replica: number }
  | { readonly kind: "stop"; readonly replica: number; readonly crash: boolean }
  | { readonly kind: "die"; readonly crash: boolean }
  | { readonly kind: "storm"; readonly ms: number }
  | Rest;

export const WILDCARD = "*";
export const pollNames: readonly string[] = ["a", "b", "c", "d"];

/** The number of deeds in a round. */
const ROUND = 60;

/** Draws some deeds and a rest, without a look at the world. */
export function drawPollsRound(
  random: SeededRandom,
  shape: PollsShape,
): readonly TimedStep<PollDeed>[] {
  const step = (): TimedStep<PollDeed> => ({ waitMs: waitOf(random), deed: deedOf(random, shape) });
  return [
    ...Array.from({ length: ROUND }, step),
    { waitMs: waitOf(random), deed: { kind: "rest" } },
  ];
}

function waitOf(random: SeededRandom): number {
  if (random.once(60)) return random.between(20_000, 400_000);
  if (random.once(4)) return random.between(1_000, 12_000);
  return random.below(600);
}

function deedOf(random: SeededRandom, shape: PollsShape): PollDeed {
  const lot = random.below(100);
  if (lot < 50)
    return {
      kind: "commit",
      changes: Array.from({ length: random.between(1, 3) }, () => ({
        name: random.pick(pollNames),
        kind: random.pick(["good", "usual", "usual", "removed", "removed", "bad"] as const),
      })),
      lagMs: Array.from({ length: shape.replicas }, () =>
        random.once(3) ? random.below(4_000) : 0,
      ),
    };
  if (lot < 78) {
    const client = random.below(shape.clients.length);
    const { type, rejects } = shape.clients[client] ?? {};
    // The resources of a client that rejects some are those of several responses.
    const isAll = type === "full" && rejects === false && random.once(4);
    return {
      kind: lot < 70 ? "watch" : "unwatch",
      client,
      name: isAll ? WILDCARD : random.pick(pollNames),
    };
  }
  if (lot < 87) return { kind: "start", replica: random.below(shape.replicas) };
  if (lot < 92)
    return { kind: "stop", replica: random.below(shape.replicas), crash: random.once(2) };
  if (lot < 94) return { kind: "die", crash: random.once(2) };
  return { kind: "storm", ms: random.between(1_000, 30_000) };
}

/** Returns a line for people. */
export function describePollDeed(deed: PollDeed): string {
  switch (deed.kind) {
    case "commit":
      return `the store: ${deed.changes.map(({ name, kind }) => `${name} is ${kind}`).join("; ")}; the replicas read it after ${deed.lagMs.join(", ")} ms`;
    case "watch":
    case "unwatch":
      return `client ${deed.client} ${deed.kind}es ${deed.name}`;
    case "start":
      return `replica ${deed.replica} starts`;
    case "stop":
      return `replica ${deed.replica} ${deed.crash ? "crashes" : "stops"}`;
    case "die":
      return `all replicas ${deed.crash ? "crash" : "stop"}`;
    case "storm":
      return `a storm of ${deed.ms} ms: messages are late, and some are lost`;
    case "rest":
      return "rest: no more faults, what is bad is replaced";
  }
}

/** Returns transactions of fewer changes, and those that all replicas read at once. */
export function simplerPollDeeds(deed: PollDeed): readonly PollDeed[] {
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
