/** Why something is rejected, before there is an error of it. */
export interface Fault {
  /** For people: what is wrong, and what to do. */
  readonly text: string;
  /** The id of the rule that something breaks, for `context.rule` of the error. Absent: no single rule. */
  readonly rule?: string | undefined;
}
