import type { ListMember as FollowedMember } from "@xdstp/federation";

import type { ListMember } from "./list-member.ts";

/** Members of a list, and what a program has been shown of each. */
export interface ShownMembers<T> {
  readonly followed: readonly FollowedMember[];
  readonly members: readonly ListMember<T>[];
}

/** What has become of them. */
export interface MemberChanges<T> {
  readonly members: readonly ListMember<T>[];
  readonly added: readonly ListMember<T>[];
  readonly updated: readonly ListMember<T>[];
  readonly removed: readonly ListMember<T>[];
}

/** What has changed in a list; `show` makes what a program is shown of a member that has. undefined: nothing, nor has the order. */
export function compareMembers<T>(before: ShownMembers<T>, followed: readonly FollowedMember[], show: (one: FollowedMember) => ListMember<T>): MemberChanges<T> | undefined {
  if (followed === before.followed) return undefined;
  return hasSameNames(before.followed, followed) ? inPlace(before, followed, show) : anywhere(before, followed, show);
}

/** Nothing says which of those without a name is which. */
function hasSameNames(before: readonly FollowedMember[], now: readonly FollowedMember[]): boolean {
  return before.length === now.length && now.every((one, index) => one === before[index] || (one.name !== "" && one.name === before[index]?.name));
}

/** The usual change: of many members some have another state. */
function inPlace<T>({ followed: before, members: shown }: ShownMembers<T>, followed: readonly FollowedMember[], show: (one: FollowedMember) => ListMember<T>): MemberChanges<T> {
  const members = [...shown];
  const updated: ListMember<T>[] = [];
  for (const [index, one] of followed.entries()) {
    if (one === before[index]) continue;
    const member = show(one);
    members[index] = member;
    updated.push(member);
  }
  return { members, added: [], updated, removed: [] };
}

function anywhere<T>({ followed: before, members: shown }: ShownMembers<T>, followed: readonly FollowedMember[], show: (one: FollowedMember) => ListMember<T>): MemberChanges<T> {
  const were = new Map(before.map((one, index) => [one, shown[index]]));
  const are = new Map(followed.map((one) => [one, were.get(one) ?? show(one)]));
  const fresh = [...are].flatMap(([one, member]) => (were.has(one) ? [] : [member]));
  const gone = [...were].flatMap(([one, member]) => (are.has(one) || member === undefined ? [] : [member]));
  const [freshNames, goneNames] = [namesOf(fresh), namesOf(gone)];
  return {
    members: [...are.values()],
    added: fresh.filter(({ name }) => !goneNames.has(name)),
    updated: fresh.filter(({ name }) => goneNames.has(name)),
    removed: gone.filter(({ name }) => !freshNames.has(name)),
  };
}

function namesOf(members: readonly ListMember<unknown>[]): ReadonlySet<string> {
  return new Set(members.flatMap(({ name }) => (name === "" ? [] : [name])));
}
