import type { IntakeSource } from "./intake.ts";
import { isHeld } from "./is-held.ts";
import type { Want } from "./want.ts";

/** Milliseconds between two exact counts of one collection: each looks at all of its members. */
const RECOUNT_MS = 10_000;

/**
 * Counts a resource that only collections cover, and returns why it is rejected: one of them has as many members as it may have, and this is another one (C-LIM-7). undefined: it is accepted.
 * The count is an upper bound, since it grows with changes too. Only where it reaches the limit the resource is looked up, and the members are counted.
 * @param pending - the number of new members of a collection among what was accepted of the same response
 */
export function memberFault(
  source: IntakeSource,
  covering: readonly Want[],
  name: string,
  pending: (want: Want) => number,
): string | undefined {
  if (covering.some(({ kind }) => kind === "name")) return undefined;
  const { members } = source.context.limits;
  const full = covering.find((want) => !countMember(source, want, name, pending));
  return full === undefined
    ? undefined
    : `${full.interest.name} has more than ${members} members, the limit of this client (C-LIM-7)`;
}

function countMember(
  { context: { limits, clock }, typeUrl, sink }: IntakeSource,
  want: Want,
  name: string,
  pending: (want: Want) => number,
): boolean {
  if (want.members < limits.members) {
    want.members++;
    return true;
  }
  if (isHeld(sink, typeUrl, { name })) return true;
  const now = clock.now();
  if (want.countedAt !== undefined && now - want.countedAt < RECOUNT_MS) return false;
  want.countedAt = now;
  want.members = Math.min(
    limits.members,
    Array.from(sink.held(typeUrl, want.interest)).length + pending(want),
  );
  if (want.members >= limits.members) return false;
  want.members++;
  return true;
}
