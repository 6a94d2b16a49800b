import { shown, type Holding, type ListMember } from "./list-member.ts";
import type { ListPart } from "./list-part.ts";
import type { InlineEntry } from "./read-list.ts";

/** A member that the list itself holds. What stays as it was goes on as the same object; what is new is copied, so that no member keeps a list alive that others have left. */
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
