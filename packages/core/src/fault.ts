/** The reason for a rejection, from which the caller makes an error. */
export interface Fault {
  /** A text for people with the problem and the action to take. */
  readonly text: string;
  /** The id of the broken rule, for `context.rule` of the error. Absent: the fault does not belong to a single rule. */
  readonly rule?: string | undefined;
}
