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
import type { PollsShape } from "./polls-shape.ts";

/** The new state of one name: a new text, valid or invalid; a text that it may have had before; or no resource. */
export interface PollChange {
  readonly name: string;
  readonly kind: "good" | "bad" | "usual" | "removed";
}

/** A deed on a world of polls. It is valid in every state. */
export type PollDeed =
  | Commit<PollChange>
  | ReplicaDeed
  | { readonly kind: "watch" | "unwatch"; readonly client: number; readonly name: string }
  | Rest;

export const WILDCARD = "*";
export const pollNames: readonly string[] = ["a", "b", "c", "d"];

/** Draws some deeds and a rest, without a look at the world. */
export function drawPollsRound(
  random: SeededRandom,
  shape: PollsShape,
): readonly TimedStep<PollDeed>[] {
  return drawRound<PollDeed>({ wait: () => waitOf(random), deed: () => deedOf(random, shape) });
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
      lagMs: drawLags(random, shape.replicas),
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
      return describeCommit(deed, ({ name, kind }) => `${name} is ${kind}`);
    case "watch":
    case "unwatch":
      return `client ${deed.client} ${deed.kind}es ${deed.name}`;
    case "rest":
      return "rest: no more faults, what is bad is replaced";
    default:
      return describeReplicaDeed(deed);
  }
}
