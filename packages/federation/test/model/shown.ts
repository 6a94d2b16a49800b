import type { Entry } from "@xdstp/core";
import { parseName } from "@xdstp/uri";

import { chained, uriOf, type Place } from "./names.ts";

export function shownOf({ resource }: Entry): string | undefined {
  return resource === undefined ? undefined : textOf(resource.payload.value);
}

/** Bytes of lists too, as far as they can be told apart. */
export function textOf(value: Uint8Array): string {
  return Buffer.from(value)
    .toString("latin1")
    .replace(/[^ -~]+/g, "|");
}

/** The place of an xdstp name; undefined: it is opaque. */
export function placeOf(name: string): Place | undefined {
  const parsed = name.startsWith("xdstp:") ? parseName(name) : undefined;
  return parsed?.ok === true
    ? { authority: parsed.value.authority, id: parsed.value.id }
    : undefined;
}

/** Whether a glob, or `*`, has a name. */
export function isIn(collection: string, name: string): boolean {
  return (
    collection === "*" ||
    (name.startsWith(collection.slice(0, -1)) && !name.slice(collection.length - 1).includes("/"))
  );
}

/** Last parts of all members that globs with alternatives may have. */
export const MEMBERS = ["m", "n", "p", "q"];

/** A member of a side, by its last part. */
export function memberId({ id }: Place, member: string): string {
  return id.replace("*", member);
}

/** As what it is delivered by a glob with these sides: with the alternatives of the glob. */
export function memberName([first, ...others]: readonly Place[], member: string): string {
  return first === undefined
    ? ""
    : uriOf(chained([{ ...first, id: memberId(first, member) }, ...others]));
}
