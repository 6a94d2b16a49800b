import { XdsError } from "@xdstp/core";
import type { FollowedList } from "@xdstp/federation";

import type { Decoder } from "./decoder.ts";
import type { Hub } from "./hub.ts";

/** One member of a list, as of the moment when it was read. */
export interface ListMember<T> {
  /**
   * The same name for an inline entry and for a locator to the same resource (C-LIST-8). Empty for
   * an inline entry without a name, which is identified by its version.
   */
  readonly name: string;
  /**
   * `pending`: nothing is known of it yet. `held`: it has a value. `missing`: it does not exist.
   * `failed`: it was rejected, access is denied, or no server is reachable.
   */
  readonly state: "pending" | "held" | "missing" | "failed";
  /** The version that the server gave. Empty if there is no resource. */
  readonly version: string;
  /** Present only in the state `held`. */
  readonly value?: T;
  /**
   * Next to a value: the value stays valid and may be out of date. Without a value: the reason why
   * there is none.
   */
  readonly error?: XdsError;
  /**
   * When a server sent the value, in milliseconds since the epoch. Present while the value is from
   * the option `snapshot` of the client, until a server sends it. An inline entry is as old as the
   * list (`ListChange.restoredAt`).
   */
  readonly restoredAt?: number;
}

/** A member as the federation follows it. */
type FollowedMember = FollowedList["members"][number];

/**
 * Returns a member as a program sees it. A member that was not checked and cannot be decoded is
 * `failed`.
 */
export function listMember<T>(
  hub: Hub,
  decoder: Decoder<T>,
  { name, state, version, resource, error, restoredAt }: FollowedMember,
): ListMember<T> {
  const told = error === undefined ? {} : { error: hub.tell(error) };
  try {
    return {
      name,
      state,
      version,
      ...(resource !== undefined && { value: decoder.read(resource) }),
      ...told,
      ...(restoredAt !== undefined && { restoredAt }),
    };
  } catch (failure) {
    return { name, state: "failed", version: "", error: hub.tell(XdsError.from(failure)) };
  }
}

/** Members of a list, and the form of each that the program has received. */
export interface ShownMembers<T> {
  readonly followed: readonly FollowedMember[];
  readonly members: readonly ListMember<T>[];
}

/** The members after a change, and the differences. */
interface MemberChanges<T> {
  readonly members: readonly ListMember<T>[];
  readonly added: readonly ListMember<T>[];
  readonly updated: readonly ListMember<T>[];
  readonly removed: readonly ListMember<T>[];
}

/**
 * Returns the changes of a list, or `undefined` if neither the members nor their order have
 * changed.
 * @param show - Returns the form that the program receives for a changed member
 * @param places - The indices that have changed, if known; otherwise all are compared
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

/** Members without a name cannot be matched by name, so they must be the same objects. */
function hasSameNames(before: readonly FollowedMember[], now: readonly FollowedMember[]): boolean {
  return (
    before.length === now.length &&
    now.every(
      (one, index) =>
        one === before[index] || (one.name !== "" && one.name === before[index]?.name),
    )
  );
}

/** Handles the usual change: some of many members have another state. */
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
