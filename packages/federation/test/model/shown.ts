import type { Entry } from "@xdstp/core";
import { parseName } from "@xdstp/uri";

import { chained, uriOf, type Place } from "./names.ts";

export function shownOf({ resource }: Entry): string | undefined {
  return resource === undefined ? undefined : textOf(resource.payload.value);
}

/** Returns a text for bytes. It distinguishes lists too, as far as possible. */
export function textOf(value: Uint8Array): string {
  return Buffer.from(value)
    .toString("latin1")
    .replace(/[^ -~]+/g, "|");
}

/** Returns the place of an xdstp name. `undefined`: the name is opaque. */
export function placeOf(name: string): Place | undefined {
  const parsed = name.startsWith("xdstp:") ? parseName(name) : undefined;
  return parsed?.ok === true
    ? { authority: parsed.value.authority, id: parsed.value.id }
    : undefined;
}

/** Returns true if a glob, or `*`, contains a name. */
export function isIn(collection: string, name: string): boolean {
  return (
    collection === "*" ||
    (name.startsWith(collection.slice(0, -1)) && !name.slice(collection.length - 1).includes("/"))
  );
}

/** The last parts of all members that globs with alternatives may have. */
export const MEMBERS = ["m", "n", "p", "q"];

/** Returns the id of a member of a side, by its last part. */
export function memberId({ id }: Place, member: string): string {
  return id.replace("*", member);
}

/**
 * Returns the name under which a glob with these sides delivers a member: with the alternatives of
 * the glob.
 */
export function memberName([first, ...others]: readonly Place[], member: string): string {
  return first === undefined
    ? ""
    : uriOf(chained([{ ...first, id: memberId(first, member) }, ...others]));
}
