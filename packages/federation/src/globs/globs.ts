import type { Interest, TypedInterest } from "@xdstp/core";
import type { XdstpLocator } from "@xdstp/uri";

import type { Ambient } from "../links/ambient.ts";
import type { SearchHost } from "../links/search.ts";
import { DirectedGlob } from "./directed-glob.ts";
import type { GlobFollowers } from "./glob-side.ts";

/** All globs with alternatives. */
export class Globs implements Iterable<DirectedGlob> {
  readonly #host: SearchHost;
  readonly #followers: GlobFollowers;
  readonly #ambient: Ambient;
  readonly #all = new Set<DirectedGlob>();
  readonly #dirty = new Set<DirectedGlob>();
  readonly #looked = new Set<DirectedGlob>();

  constructor(host: SearchHost, followers: GlobFollowers, ambient: Ambient) {
    this.#host = host;
    this.#followers = followers;
    this.#ambient = ambient;
  }

  [Symbol.iterator](): Iterator<DirectedGlob> {
    return this.#all.values();
  }

  /** True if a glob has changed. */
  get isDirty(): boolean {
    return this.#dirty.size > 0;
  }

  add(asked: TypedInterest, locator: XdstpLocator): DirectedGlob {
    const glob = new DirectedGlob(asked, locator, {
      host: this.#host,
      followers: this.#followers,
      touch: (one) => {
        this.#touch(one);
      },
    });
    this.#all.add(glob);
    this.#touch(glob);
    return glob;
  }

  /** Sets the interests with which readers request a glob now, one for each set of parameters. */
  askedBy(glob: DirectedGlob, asked: readonly Interest[]): void {
    glob.asked = asked;
    this.#ambient.again(glob, interestsIn(glob));
    for (const follower of glob.inUse.members.values()) follower.readersChanged();
    this.#touch(glob);
  }

  end(glob: DirectedGlob): void {
    this.#all.delete(glob);
    for (const some of [this.#dirty, this.#looked]) some.delete(glob);
    this.#ambient.set(glob, undefined, []);
    glob.end();
  }

  /** Updates the globs that have changed. */
  look(): void {
    for (const glob of this.#dirty) {
      this.#dirty.delete(glob);
      this.#looked.add(glob);
      glob.look();
    }
  }

  /** Returns the interests of globs that are now known completely. */
  takeSettled(): readonly TypedInterest[] {
    return [...this.#looked].filter((glob) => glob.takeSettled()).flatMap(interestsIn);
  }

  /**
   * Called after changes are delivered: reports errors next to the members, and closes sides that
   * are no longer needed.
   */
  conclude(): void {
    for (const glob of this.#looked) {
      glob.rest();
      const { trouble } = glob;
      if (trouble !== null) this.#ambient.set(glob, trouble, interestsIn(glob));
    }
    this.#looked.clear();
  }

  #touch(glob: DirectedGlob): void {
    if (!this.#all.has(glob)) return;
    this.#dirty.add(glob);
    this.#followers.schedule();
  }
}

function interestsIn({ typeUrl, asked }: DirectedGlob): readonly TypedInterest[] {
  return asked.map((interest) => ({ typeUrl, interest }));
}
