import { nameFromLocator, printLocator, printName, type XdstpLocator } from "@xdstp/uri";

import type { GlobMember } from "../links/follower.ts";

/** The locator of a member. It has the alternatives of the glob, not of its own, so that it differs from the name that is subscribed by itself and chooses by itself (C-ALT-7). */
export function memberOf(glob: XdstpLocator, segment: string): XdstpLocator {
  return { ...glob, id: `${glob.id.slice(0, -1)}${segment}` };
}

/** The last part of the id of a name: the part that matches `*` in its glob. */
export function segmentOf({ id }: { readonly id: string }): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

/** From one side to the next. */
export function wayTo(
  sides: readonly XdstpLocator[],
  segment: string,
): Pick<GlobMember, "steps" | "hops"> {
  const members = sides.map((side) => memberOf(side, segment));
  return {
    steps: members
      .slice(0, -1)
      .map((member) => ({ name: printName(nameFromLocator(member)), version: "alt" })),
    hops: members.slice(1).map((member) => ({ kind: "alt", to: printLocator(member) })),
  };
}
