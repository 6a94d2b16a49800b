import {
  interestKey,
  XdsError,
  type Interest,
  type ResourceSink,
  type TypedInterest,
} from "@xdstp/core";
import { isGlob, parseLocator, printLocator, type XdstpLocator } from "@xdstp/uri";

import type { DirectedGlob } from "../globs/directed-glob.ts";
import { Follower } from "../links/follower.ts";
import type { Followers } from "../links/followers.ts";
import { locatorFault } from "../links/locator-of.ts";

/** Names and globs with directives that readers ask for: each is one, with however many sets of parameters. */
export class Directed {
  readonly #followers: Followers;
  readonly #sink: ResourceSink;
  /** By type and locator. */
  readonly #asked = new Map<string, Follower | DirectedGlob>();

  constructor(followers: Followers, sink: ResourceSink) {
    this.#followers = followers;
    this.#sink = sink;
  }

  begin({ typeUrl, interest }: TypedInterest, locator: XdstpLocator): void {
    const fault = locatorFault(typeUrl, locator);
    if (fault === undefined) this.#ask({ typeUrl, interest }, locator);
    else
      this.#sink.unavailable(
        { typeUrl, interest },
        new XdsError("INVALID_ARGUMENT", fault.text, {
          typeUrl,
          resource: interest.name,
          rule: fault.rule,
        }),
      );
  }

  end({ typeUrl, interest }: TypedInterest, locator: XdstpLocator): void {
    const id = idOf(typeUrl, locator);
    const known = this.#asked.get(id);
    if (known === undefined) {
      this.#sink.unavailable({ typeUrl, interest }, undefined);
      return;
    }
    const left = known.asked.filter(
      (other) => interestKey(other, "") !== interestKey(interest, ""),
    );
    if (left.length > 0) {
      this.#askedBy(known, left);
      return;
    }
    this.#asked.delete(id);
    if (known instanceof Follower) known.end();
    else this.#followers.globs.end(known);
  }

  #ask(asked: TypedInterest, locator: XdstpLocator): void {
    const id = idOf(asked.typeUrl, locator);
    const known = this.#asked.get(id);
    if (known !== undefined) this.#askedBy(known, [...known.asked, asked.interest]);
    else
      this.#asked.set(
        id,
        isGlob(locator)
          ? this.#followers.globs.add(asked, locator)
          : this.#followers.add({ ...asked, start: locator }),
      );
  }

  #askedBy(known: Follower | DirectedGlob, asked: readonly Interest[]): void {
    if (known instanceof Follower) this.#followers.askedBy(known, asked);
    else this.#followers.globs.askedBy(known, asked);
  }
}

/** undefined: it has no directives. */
export function directedLocator(name: string): XdstpLocator | undefined {
  const parsed = name.startsWith("xdstp:") && name.includes("#") ? parseLocator(name) : undefined;
  return parsed?.ok === true &&
    parsed.value.scheme === "xdstp" &&
    parsed.value.directives.length > 0
    ? parsed.value
    : undefined;
}

function idOf(typeUrl: string, locator: XdstpLocator): string {
  return `${typeUrl}\n${printLocator(locator)}`;
}
