import { nameFromLocator, printLocator, printName, type Directive, type XdstpLocator } from "@xdstp/uri";

import type { Step } from "../links/link-version.ts";
import type { Hop } from "../links/outcome.ts";
import type { Ask } from "../routes/ask.ts";
import type { GlobSide } from "./glob-side.ts";

/** One member of a side of a glob with alternatives: where it is found, and the way there from the name that it is delivered under. */
export interface GlobMember {
  readonly side: GlobSide;
  readonly ask: Ask;
  readonly steps: readonly Step[];
  readonly hops: readonly Hop[];
}

/** The locator of a member, with those of its alternatives (C-ALT-7). */
export function memberOf(glob: XdstpLocator, segment: string): XdstpLocator {
  return { ...glob, id: `${glob.id.slice(0, -1)}${segment}`, directives: glob.directives.map((directive) => directiveOf(directive, segment)) };
}

/** The last part of the id of a name: what `*` stands for in its glob. */
export function segmentOf({ id }: { readonly id: string }): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

/** As if the member had been asked for by its own name, with its alternatives. */
export function wayTo(sides: readonly XdstpLocator[], segment: string): Pick<GlobMember, "steps" | "hops"> {
  const members = sides.map((side) => memberOf(side, segment));
  return {
    steps: members.slice(0, -1).map((member) => ({ name: printName(nameFromLocator(member)), version: "alt" })),
    hops: members.slice(1).map((member) => ({ kind: "alt", to: printLocator(member) })),
  };
}

function directiveOf(directive: Directive, segment: string): Directive {
  return directive.kind === "alt" && directive.locator.scheme === "xdstp" ? { kind: "alt", locator: memberOf(directive.locator, segment) } : directive;
}
