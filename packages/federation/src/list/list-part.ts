import type { XdsError } from "@xdstp/core";

import { type ListMember, failure, shown, type Holding } from "./list-member.ts";
import type { InlineEntry } from "./read-list.ts";

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

/** A member for which no server is known. */
export function failedPart(
  name: string,
  error: XdsError,
  before: ListMember | undefined,
): ListPart {
  return { member: shown(before, name, failure(error)), settled: true, end: () => undefined };
}

/** A member that is inline in the list. An unchanged member stays the same object. A new member is copied, so that it does not keep the bytes of the whole list in memory. */
export function inlinePart(
  { version, payload }: InlineEntry,
  name: string,
  before: ListMember | undefined,
): ListPart {
  const holding: Holding = { state: "held", version, resource: { name, version, payload } };
  const member = shown(before, name, holding);
  const end = (): void => undefined;
  if (member === before) return { member, settled: true, end };
  const copy = { typeUrl: payload.typeUrl, value: payload.value.slice() };
  return { member: { ...member, resource: { name, version, payload: copy } }, settled: true, end };
}
