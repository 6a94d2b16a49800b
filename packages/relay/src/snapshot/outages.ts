import type { Scope, XdsError } from "@xdstp/core";

import type { Wanted } from "./wanted-book.ts";

/** Which parts of the supply are broken, and who said so. */
export class Outages {
  #all: readonly (readonly [source: object, scope: Scope])[] = [];

  /** Notes one, or its end: that ends every narrower one of the same source too. */
  set(source: object, scope: Scope, error: XdsError | undefined): void {
    const left = this.#all.filter(([other, part]) => other !== source || !isWithin(part, scope));
    this.#all = error === undefined ? left : [...left, [source, scope]];
  }

  covers({ typeUrl, authority }: Wanted): boolean {
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
