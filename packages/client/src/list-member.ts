import { XdsError } from "@xdstp/core";
import type { FollowedList } from "@xdstp/federation";

import type { Decoder } from "./decoder.ts";
import type { Hub } from "./hub.ts";

/** One member of a list, as it was when it was read. */
export interface ListMember<T> {
  /** The same whether the list has it inline or says where it is (C-LIST-8). Empty: an inline entry without a name, which is known by its version. */
  readonly name: string;
  /** `pending`: nothing is known of it yet; `held`; `missing`: it does not exist; `failed`: it was rejected, may not be seen, or no server is reachable. */
  readonly state: "pending" | "held" | "missing" | "failed";
  /** As the server gave it. Empty where there is none. */
  readonly version: string;
  /** Only while `held`. */
  readonly value?: T;
  /** Next to a value: it stays valid, and may be old. Otherwise why there is none. */
  readonly error?: XdsError;
}

/** A member as the federation follows it. */
type FollowedMember = FollowedList["members"][number];

/** A member as a program sees it. A member without a check that cannot be decoded has failed. */
export function listMember<T>(
  hub: Hub,
  decoder: Decoder<T>,
  { name, state, version, resource, error }: FollowedMember,
): ListMember<T> {
  const told = error === undefined ? {} : { error: hub.tell(error) };
  try {
    return {
      name,
      state,
      version,
      ...(resource !== undefined && { value: decoder.read(resource) }),
      ...told,
    };
  } catch (failure) {
    return { name, state: "failed", version: "", error: hub.tell(XdsError.from(failure)) };
  }
}

/** Members of a list, and what a program has been shown of each. */
export interface ShownMembers<T> {
  readonly followed: readonly FollowedMember[];
  readonly members: readonly ListMember<T>[];
}

/** What has become of them. */
interface MemberChanges<T> {
  readonly members: readonly ListMember<T>[];
  readonly added: readonly ListMember<T>[];
  readonly updated: readonly ListMember<T>[];
  readonly removed: readonly ListMember<T>[];
}

/**
 * What has changed in a list; `show` makes what a program is shown of a member that has. undefined: nothing, nor has the order.
 * @param places - Those that have changed, if that is known; else all are compared
 */
export function compareMembers<T>(
  before: ShownMembers<T>,
  followed: readonly FollowedMember[],
  show: (one: FollowedMember) => ListMember<T>,
  places?: readonly number[],
): MemberChanges<T> | undefined {
  if (followed === before.followed) return undefined;
  if (places !== undefined) return inPlaces(before, followed, show, places);
  if (before.followed.length === 0) return first(followed.map(show));
  return hasSameNames(before.followed, followed)
    ? inPlaces(before, followed, show, followed.keys())
    : anywhere(before, followed, show);
}

function first<T>(members: readonly ListMember<T>[]): MemberChanges<T> {
  return { members, added: members, updated: [], removed: [] };
}

/** Nothing says which of those without a name is which. */
function hasSameNames(before: readonly FollowedMember[], now: readonly FollowedMember[]): boolean {
  return (
    before.length === now.length &&
    now.every(
      (one, index) =>
        one === before[index] || (one.name !== "" && one.name === before[index]?.name),
    )
  );
}

/** The usual change: of many members some have another state. */
function inPlaces<T>(
  { followed: before, members: shown }: ShownMembers<T>,
  followed: readonly FollowedMember[],
  show: (one: FollowedMember) => ListMember<T>,
  places: Iterable<number>,
): MemberChanges<T> {
  const members = shown.slice();
  const updated: ListMember<T>[] = [];
  for (const place of places) {
    const one = followed[place];
    if (one === undefined || one === before[place]) continue;
    const member = show(one);
    members[place] = member;
    updated.push(member);
  }
  return { members, added: [], updated, removed: [] };
}

function anywhere<T>(
  { followed: before, members: shown }: ShownMembers<T>,
  followed: readonly FollowedMember[],
  show: (one: FollowedMember) => ListMember<T>,
): MemberChanges<T> {
  const left = new Map<FollowedMember | undefined, ListMember<T>>();
  for (const [place, member] of shown.entries()) left.set(before[place], member);
  const fresh: ListMember<T>[] = [];
  const members = followed.map((one) => {
    const known = left.get(one);
    left.delete(one);
    if (known !== undefined) return known;
    const member = show(one);
    fresh.push(member);
    return member;
  });
  const gone = [...left.values()];
  const [freshNames, goneNames] = [namesOf(fresh), namesOf(gone)];
  return {
    members,
    added: fresh.filter(({ name }) => !goneNames.has(name)),
    updated: fresh.filter(({ name }) => goneNames.has(name)),
    removed: gone.filter(({ name }) => !freshNames.has(name)),
  };
}

function namesOf(members: readonly ListMember<unknown>[]): ReadonlySet<string> {
  return new Set(members.flatMap(({ name }) => (name === "" ? [] : [name])));
}
