import type { FolderProblem } from "../folder-problem.ts";
import type { EnvoyReason } from "./envoy-reason.ts";
import type { RunningEnvoy } from "./run-envoy.ts";

/** What Envoy says. */
export interface EnvoyAnswer {
  /** As in `1.40.0`. */
  readonly version: string;
  /** Bootstraps and resources that Envoy has read. */
  readonly asked: number;
  /** Those that our own check rejects, and resources that Envoy does not read at its start, or not without files of another machine. */
  readonly notAsked: number;
  /** What it rejects. */
  readonly problems: readonly FolderProblem[];
}

/** What Envoy says of one path. */
export type PathAnswer = Omit<EnvoyAnswer, "version">;

/** Counts what is done. */
export interface Progress {
  /** There is more to do. */
  readonly add: (count: number) => void;
  readonly done: (count: number) => void;
}

/** A rejection, as the predicate of a sentence. */
export function rejectionText({ version }: RunningEnvoy, { message }: EnvoyReason): string {
  return `Envoy ${version} rejects it: ${message}`;
}

/** What Envoy does instead of an answer. */
export function failureText({ version }: RunningEnvoy, what: string): string {
  return `Envoy ${version} ${what} when it reads this`;
}
