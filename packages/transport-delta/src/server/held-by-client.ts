import type { Entry } from "@xdstp/core";
import { globOf, nameKey } from "@xdstp/uri";
import type { DeltaState, HeldByClient, HeldList } from "./delta-state.ts";
import { isCollection } from "./lookup.ts";

/** The result of comparing a client's list with the members of a topic. */
export interface Compared {
  /**
   * The members that the client does not have in their present version; the same array if it has
   * none of them.
   */
  readonly rest: readonly Entry[];
  /** The listed names that are not members. */
  readonly left: HeldList;
}

const lists = new WeakMap<ReadonlyMap<string, string>, HeldList>();
const compared = new WeakMap<HeldList, WeakMap<readonly Entry[], Compared>>();

/** Returns the list by canonical keys; the same object for the same versions. */
export function heldListOf(versions: ReadonlyMap<string, string>): HeldList {
  let list = lists.get(versions);
  if (list === undefined)
    lists.set(
      versions,
      (list = new Map([...versions].map(([name, version]) => [nameKey(name), { name, version }]))),
    );
  return list;
}

/**
 * Compares members with a list (S-RECON-4); computed once for all clients that send the same list.
 */
export function compareHeld(list: HeldList, members: readonly Entry[]): Compared {
  let byMembers = compared.get(list);
  if (byMembers === undefined) compared.set(list, (byMembers = new WeakMap()));
  let result = byMembers.get(members);
  if (result === undefined) byMembers.set(members, (result = compare(list, members)));
  return result;
}

/** Removes a name from the list of the client. Returns false if it was not there. */
export function unlist(state: Pick<DeltaState, "initial" | "initialShared">, key: string): boolean {
  return state.initial?.has(key) === true && ownList(state, state.initial).delete(key);
}

/** Returns a list that may be changed: a copy, if other clients share it. */
function ownList(
  state: Pick<DeltaState, "initial" | "initialShared">,
  list: HeldList,
): Map<string, HeldByClient> {
  const own = state.initialShared ? new Map(list) : (list as Map<string, HeldByClient>);
  state.initial = own;
  state.initialShared = false;
  return own;
}

/**
 * Forgets the listed versions of names that are subscribed again: they are sent whatever version
 * the client has (S-DSUB-3), also as removals.
 */
export function doubt(
  state: Pick<DeltaState, "initial" | "initialShared">,
  names: readonly string[],
): void {
  for (const name of names) doubtKey(state, nameKey(name));
  if (state.initial === undefined || !names.some(isCollection)) return;
  const keys = new Set(names.map(nameKey));
  for (const key of state.initial.keys())
    if (keys.has("*") || keys.has(globOf(key) ?? "")) doubtKey(state, key);
}

function doubtKey(state: Pick<DeltaState, "initial" | "initialShared">, key: string): void {
  const held = state.initial?.get(key);
  if (held === undefined || state.initial === undefined) return;
  ownList(state, state.initial).set(key, { ...held, version: UNSURE });
}

/** A version that no resource has. */
const UNSURE = "\n";

function compare(list: HeldList, members: readonly Entry[]): Compared {
  const left = new Map(list);
  const rest = members.filter(({ name, resource }) => {
    const key = nameKey(name);
    const held = list.get(key);
    left.delete(key);
    return held === undefined || held.version !== resource?.version;
  });
  return { rest: rest.length === members.length ? members : rest, left };
}
