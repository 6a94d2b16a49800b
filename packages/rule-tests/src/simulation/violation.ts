/** An invariant that does not hold. */
export interface Violation {
  /** Which. */
  readonly invariant: string;
  /** What was seen. */
  readonly text: string;
}

/** Notes a violation; the run ends with the step. */
export type Report = (invariant: string, text: string) => void;
