import type { Scope, XdsError } from "@xdstp/core";

import type { SubscribedInterest } from "./subscribed.ts";

/** Which scopes are unavailable, and which source has reported it. */
export class Outages {
  #all: readonly (readonly [source: object, scope: Scope])[] = [];

  /** Adds an outage, or removes it with every narrower one of the same source. */
  set(source: object, scope: Scope, error: XdsError | undefined): void {
    const left = this.#all.filter(([other, part]) => other !== source || !isWithin(part, scope));
    this.#all = error === undefined ? left : [...left, [source, scope]];
  }

  covers({ typeUrl, authority }: SubscribedInterest): boolean {
    return this.#all.some(([, scope]) => isWithin({ typeUrl, authority }, scope));
  }
}

/** Absent parts do not narrow. */
function isWithin(part: Scope, whole: Scope): boolean {
  return (
    (whole.typeUrl === undefined || whole.typeUrl === part.typeUrl) &&
    (whole.authority === undefined || whole.authority === part.authority)
  );
}
