import type { Row } from "./row.ts";

/** The means of a case. */
export interface CaseContext {
  /** Smaller and once instead of three times. */
  readonly quick: boolean;
  /** Aborts at the deadline of the case. */
  readonly signal: AbortSignal;
  /** Tells the person who waits. */
  readonly say: (text: string) => void;
}

/** A part of the bench that can be run by itself. */
export interface BenchCase {
  /** The name for `--case`. */
  readonly name: string;
  /** After so many seconds it is stopped. */
  readonly deadlineSeconds: number;
  /** Left out of `--quick`, unless it is named. */
  readonly fullOnly?: boolean;
  /** Open connections that it needs at once. */
  readonly connections: number;
  run(context: CaseContext): Promise<readonly Row[]>;
}
