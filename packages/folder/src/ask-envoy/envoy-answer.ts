import type { FolderProblem } from "../folder-problem.ts";
import type { EnvoyReason } from "./envoy-reason.ts";
import type { RunningEnvoy } from "./run-envoy.ts";

/** The answer of Envoy for all paths. */
export interface EnvoyAnswer {
  /** The version, such as `1.40.0`. */
  readonly version: string;
  /** The number of bootstraps and resources that Envoy has read. */
  readonly asked: number;
  /** The number of bootstraps and resources that Envoy has not read: our own check rejects them, Envoy does not read them when it starts, or they need files of another machine. */
  readonly notAsked: number;
  /** The problems that Envoy has reported. */
  readonly problems: readonly FolderProblem[];
}

/** The answer of Envoy for one path. */
export type PathAnswer = Omit<EnvoyAnswer, "version">;

/** Counts the bootstraps and resources that are read. */
export interface Progress {
  /** Adds to the number of all bootstraps and resources. */
  readonly add: (count: number) => void;
  readonly done: (count: number) => void;
}

/** Returns a rejection as the predicate of a sentence about a resource. */
export function rejectionText({ version }: RunningEnvoy, { message }: EnvoyReason): string {
  return `Envoy ${version} rejects it: ${message}`;
}

/** Returns a failure of Envoy as a sentence. `what`: its predicate, such as `ends with SIGSEGV`. */
export function failureText({ version }: RunningEnvoy, what: string): string {
  return `Envoy ${version} ${what} when it reads this`;
}
