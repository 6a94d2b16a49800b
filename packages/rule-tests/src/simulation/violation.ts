/** An invariant that does not hold. */
export interface Violation {
  /** The name of the invariant. */
  readonly invariant: string;
  /** The observation. */
  readonly text: string;
}

/** Notes a violation; the run ends with the step. */
export type Report = (invariant: string, text: string) => void;
