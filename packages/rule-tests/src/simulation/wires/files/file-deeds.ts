import type { SeededRandom } from "@xdstp/testing";

import type { TimedStep } from "../../run-scenario.ts";
import type { Rest } from "../wire-world.ts";
import { fileNames, type Place, places } from "./file-places.ts";

/** A deed on a world of files. It is valid in every state. */
export type FileDeed =
  | {
      readonly kind: "put" | "remove";
      readonly place: Place;
      readonly name: string;
      /** True: a file that others write is written in its place, so that a reader may see half of it. */
      readonly inPlace: boolean;
    }
  | { readonly kind: "watch" | "unwatch"; readonly place: Place; readonly name: string }
  /** A file is deleted, or made invalid, by mistake. Files of an export are not. */
  | {
      readonly kind: "delete" | "break";
      readonly place: "volume" | "native";
      readonly name: string;
    }
  | { readonly kind: "crash" }
  | { readonly kind: "slow" | "deaf" | "late" | "unwatchable"; readonly ms: number }
  | Rest;

/** The number of deeds in a round. */
const ROUND = 50;

/** Draws some deeds and a rest, without a look at the world. */
export function drawFilesRound(random: SeededRandom): readonly TimedStep<FileDeed>[] {
  const step = (): TimedStep<FileDeed> => ({ waitMs: waitOf(random), deed: deedOf(random) });
  return [
    ...Array.from({ length: ROUND }, step),
    { waitMs: waitOf(random), deed: { kind: "rest" } },
  ];
}

function waitOf(random: SeededRandom): number {
  if (random.once(30)) return random.between(5_000, 30_000);
  if (random.once(4)) return random.between(300, 3_000);
  return random.below(60);
}

function deedOf(random: SeededRandom): FileDeed {
  const lot = random.below(100);
  const place = random.pick(places);
  const name = random.pick(fileNames);
  if (lot < 55)
    return {
      kind: random.pick(["put", "put", "remove"] as const),
      place,
      name,
      inPlace: random.once(3),
    };
  if (lot < 77) return { kind: lot < 71 ? "watch" : "unwatch", place, name };
  if (lot < 83)
    return {
      kind: random.pick(["delete", "break"] as const),
      place: random.pick(["volume", "native"] as const),
      name,
    };
  if (lot < 86) return { kind: "crash" };
  return {
    kind: random.pick(["slow", "deaf", "late", "unwatchable"] as const),
    ms: random.between(500, 20_000),
  };
}

/** Returns a line for people. */
export function describeFileDeed(deed: FileDeed): string {
  switch (deed.kind) {
    case "put":
    case "remove":
      return `${deed.place}: ${deed.kind} ${deed.name}${deed.inPlace ? ", in place" : ""}`;
    case "watch":
    case "unwatch":
      return `the reader of ${deed.place} ${deed.kind}es ${deed.name}`;
    case "delete":
      return `${deed.place}: the file is deleted (${deed.name})`;
    case "break":
      return `${deed.place}: the file becomes invalid (${deed.name})`;
    case "crash":
      return "the export crashes, and starts again";
    case "slow":
      return `the file system is slow for ${deed.ms} ms`;
    case "deaf":
      return `changes are not notified for ${deed.ms} ms`;
    case "late":
      return `changes are notified late for ${deed.ms} ms`;
    case "unwatchable":
      return `directories cannot be watched for ${deed.ms} ms`;
    case "rest":
      return "rest: no more faults, files that are lost are written again";
  }
}
