import type { ListMember } from "./list-member.ts";

/** A member in its place in a list, and where it comes from. */
export interface ListPart {
  /** The same object while a reader would notice no difference. */
  readonly member: ListMember;
  /** Something is known of it. */
  readonly settled: boolean;
  /** The subscribed locator, printed. Absent: none. */
  readonly locator?: string;
  end(): void;
}
