import { XdsError, type Interest, type Timer, type TypedInterest } from "@xdstp/core";
import type { XdstpLocator } from "@xdstp/uri";

import { Choice } from "../links/outcome.ts";
import type { SearchHost } from "../links/search.ts";
import { GlobSide, type GlobFollowers, type GlobOfSides } from "./glob-side.ts";

/** The parts of a federation that a glob with alternatives uses. */
export interface GlobHost {
  readonly host: SearchHost;
  readonly followers: GlobFollowers;
  touch(glob: DirectedGlob): void;
}

/**
 * A glob with alternatives (C-ALT-7). The members of one alternative at a time are delivered, under
 * the names of the glob.
 */
export class DirectedGlob implements GlobOfSides {
  readonly typeUrl: string;
  /**
   * The interests of the readers: one for each set of parameters (TP2). All share one choice of
   * alternative.
   */
  asked: readonly Interest[];
  readonly locator: XdstpLocator;
  /** The side whose members are delivered. */
  inUse: GlobSide;
  /** The side that should be delivered, as far as is known. */
  #target: GlobSide;
  readonly #of: GlobHost;
  readonly #sides: readonly GlobSide[];
  /** For each side except the last: whether the next side is used instead. */
  readonly #choices: readonly Choice[];
  #timer: Timer | undefined;
  #isSettled = false;

  constructor({ typeUrl, interest }: TypedInterest, locator: XdstpLocator, of: GlobHost) {
    this.typeUrl = typeUrl;
    this.asked = [interest];
    this.locator = locator;
    this.#of = of;
    const locators = withAlternatives(locator);
    const sides = locators.map(
      (one, index) => new GlobSide(this, one, locators.slice(0, index), of.host, of.followers),
    );
    const [first = new GlobSide(this, locator, [], of.host, of.followers)] = sides;
    this.#sides = sides;
    this.#choices = locators.slice(1).map(() => new Choice());
    this.inUse = this.#target = first;
  }

  touch(): void {
    this.#of.touch(this);
  }

  /**
   * Handles a change: requests the sides that are needed, and changes over to another side if
   * necessary. Unless it changes over, the cost does not depend on the number of members.
   */
  look(): void {
    const target = (this.#target = this.#choose());
    if (target !== this.inUse && (target.isWhole || !this.inUse.shows)) this.#use(target);
  }

  /** Called after changes are delivered: closes the sides that are no longer needed. */
  rest(): void {
    const needed = Math.max(this.#sides.indexOf(this.#target), this.#sides.indexOf(this.inUse));
    for (const side of this.#sides.slice(needed + 1)) side.close();
  }

  /** Returns true once, when the side in use is known completely for the first time. */
  takeSettled(): boolean {
    if (this.#isSettled || !this.inUse.isWhole) return false;
    return (this.#isSettled = true);
  }

  /** The error next to the delivered members. `null`: unchanged. */
  get trouble(): XdsError | undefined | null {
    const { inUse } = this;
    if (inUse.isHeld) return inUse.failure;
    const asked = this.#sides.slice(0, this.#sides.indexOf(inUse) + 1);
    const errors = asked.map((side) => side.broken ?? (side.isHeld ? undefined : side.failure));
    if (errors.includes(undefined)) return null;
    return errors.length === 1
      ? errors[0]
      : new XdsError("UNAVAILABLE", errors.map((error) => error?.text).join("; its alternative: "));
  }

  /** Returns true if no server is known for a side of this authority. */
  lacks(authority: string): boolean {
    return this.#sides.some(
      (side) => side.broken !== undefined && side.locator.authority === authority,
    );
  }

  end(): void {
    this.#timer?.cancel();
    for (const side of this.#sides) side.close();
  }

  /** Returns the side that the choices lead to. */
  #choose(): GlobSide {
    const now = this.#of.host.clock.now();
    let target = this.inUse;
    let until = Infinity;
    for (const [index, side] of this.#sides.entries()) {
      target = side;
      side.open();
      const choice = this.#choices[index];
      if (choice === undefined) break;
      until = Math.min(
        until,
        choice.decide(
          this.#callsForAlt(side),
          choice.onAlt ? this.inUse.shows : side.isHeld,
          now,
          () => this.#of.host.random(),
        ),
      );
      if (!choice.onAlt) break;
    }
    this.#timer?.cancel();
    this.#timer =
      until === Infinity
        ? undefined
        : this.#of.host.clock.after(until - now, () => {
            this.touch();
          });
    return target;
  }

  /**
   * Returns true if the alternative should be used instead of this side, and `undefined` if this is
   * not known yet.
   */
  #callsForAlt(side: GlobSide): boolean | undefined {
    const { host } = this.#of;
    if (!side.isHeld) return side.isLost ? true : undefined;
    if (side.isLost && host.altOnUnreachable(side.locator.authority)) return true;
    return host.altOnMissing && side.isEmpty;
  }

  /** Changes over to another side; all members change at once. */
  #use(side: GlobSide): void {
    const before = new Map(
      Array.from(this.inUse.members.values(), (follower) => [follower.interest.name, follower]),
    );
    this.inUse = side;
    for (const follower of side.members.values()) {
      const known = before.get(follower.interest.name);
      if (known !== undefined) follower.takeOver(known);
    }
    for (const members of [before, side.members])
      for (const follower of members.values()) follower.touch();
  }
}

/** Returns a locator and its alternatives, in order of preference (C-ALT-5). */
function withAlternatives(locator: XdstpLocator): readonly XdstpLocator[] {
  const alt = locator.directives.find(({ kind }) => kind === "alt");
  return alt?.kind === "alt" && alt.locator.scheme === "xdstp"
    ? [locator, ...withAlternatives(alt.locator)]
    : [locator];
}
