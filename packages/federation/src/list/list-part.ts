import type { ListMember } from "./list-member.ts";

/** A member in its place in a list, and where it comes from. */
export interface ListPart {
  /** The same object while a reader would notice no difference. */
  readonly member: ListMember;
  /** Something is known of it. */
  readonly settled: boolean;
  /** The locator that is asked for, printed. Absent: nothing is. */
  readonly locator?: string;
  end(): void;
}
