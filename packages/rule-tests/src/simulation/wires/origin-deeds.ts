import type { SeededRandom } from "@xdstp/testing";

import type { TimedStep } from "../run-scenario.ts";
import type { Rest } from "./wire-world.ts";

/** A transaction of the store that all replicas of an origin read. */
export interface Commit<Change> {
  readonly kind: "commit";
  readonly changes: readonly Change[];
  /** Milliseconds after which each replica reads the change. */
  readonly lagMs: readonly number[];
}

/** A deed on the replicas of an origin, or on the network in front of them. */
export type ReplicaDeed =
  | { readonly kind: "start"; readonly replica: number }
  | { readonly kind: "stop"; readonly replica: number; readonly crash: boolean }
  | { readonly kind: "die"; readonly crash: boolean }
  | { readonly kind: "storm"; readonly ms: number };

/** The number of deeds in a round. */
const ROUND = 60;

/** Draws the deeds of a round, each with the time before it, and a rest. */
export function drawRound<Deed>(draw: {
  readonly wait: () => number;
  readonly deed: () => Deed;
}): readonly TimedStep<Deed | Rest>[] {
  const step = (): TimedStep<Deed | Rest> => ({ waitMs: draw.wait(), deed: draw.deed() });
  return [...Array.from({ length: ROUND }, step), { waitMs: draw.wait(), deed: { kind: "rest" } }];
}

/** Draws the times of {@link Commit.lagMs}. */
export function drawLags(random: SeededRandom, replicas: number): readonly number[] {
  return Array.from({ length: replicas }, () => (random.once(3) ? random.below(4_000) : 0));
}

/** Carries out a deed on replicas. */
export function doToReplicas(
  deed: ReplicaDeed,
  {
    origin,
    weather,
    replicas,
  }: {
    readonly origin: {
      start(replica: number): void;
      stop(replica: number, crash: boolean): void;
    };
    readonly weather: { storm(ms: number): void };
    readonly replicas: number;
  },
): void {
  switch (deed.kind) {
    case "start":
      origin.start(deed.replica);
      break;
    case "stop":
      origin.stop(deed.replica, deed.crash);
      break;
    case "die":
      for (let index = 0; index < replicas; index++) origin.stop(index, deed.crash);
      break;
    case "storm":
      weather.storm(deed.ms);
      break;
  }
}

/** Returns a line for people. */
export function describeReplicaDeed(deed: ReplicaDeed): string {
  switch (deed.kind) {
    case "start":
      return `replica ${deed.replica} starts`;
    case "stop":
      return `replica ${deed.replica} ${deed.crash ? "crashes" : "stops"}`;
    case "die":
      return `all replicas ${deed.crash ? "crash" : "stop"}`;
    case "storm":
      return `a storm of ${deed.ms} ms: messages are late, and some are lost`;
  }
}

/** Returns a line for people. `shown` describes a change. */
export function describeCommit<Change>(
  { changes, lagMs }: Commit<Change>,
  shown: (change: Change) => string,
): string {
  return `the store: ${changes.map(shown).join("; ")}; the replicas read it after ${lagMs.join(", ")} ms`;
}

/** Returns transactions of fewer changes, and those that all replicas read at once. None for another deed. */
export function simplerCommits<Change>(
  deed: Commit<Change> | { readonly kind: string },
): readonly Commit<Change>[] {
  if (!isCommit(deed)) return [];
  const fewer =
    deed.changes.length < 2
      ? []
      : deed.changes.map((_, index) => ({ ...deed, changes: deed.changes.toSpliced(index, 1) }));
  const atOnce = deed.lagMs.every((ms) => ms === 0)
    ? []
    : [{ ...deed, lagMs: deed.lagMs.map(() => 0) }];
  return [...fewer, ...atOnce];
}

function isCommit<Change>(
  deed: Commit<Change> | { readonly kind: string },
): deed is Commit<Change> {
  return deed.kind === "commit";
}
