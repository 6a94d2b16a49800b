import { authorityOf } from "@xdstp/uri";
import { interestKey, type Scope, type XdsError } from "@xdstp/core";

import type { BaseTopic } from "./base-topic.ts";
import { readName } from "./read-name.ts";

interface Outage {
  readonly source: object;
  readonly scope: ScopeKey;
  readonly error: XdsError;
}

interface ScopeKey {
  readonly typeUrl: string | undefined;
  readonly interest: string | undefined;
  readonly authority: string | undefined;
}

/** Which parts of the supply are broken, by who said so. */
export class Availability {
  #outages: readonly Outage[] = [];

  /** Notes an outage, or its end: that ends every narrower one of the same source too. */
  set(source: object, scope: Scope, error: XdsError | undefined): void {
    const key = keyOf(scope);
    const rest = this.#outages.filter((outage) => outage.source !== source || !within(outage.scope, key));
    this.#outages = error === undefined ? rest : [...rest, { source, scope: key, error }];
  }

  /** Forgets all that a source has said. */
  clear(source: object): void {
    this.#outages = this.#outages.filter((outage) => outage.source !== source);
  }

  /** Why the supply of a topic is broken, if it is. */
  of(typeUrl: string, topic: BaseTopic): XdsError | undefined {
    if (this.#outages.length === 0) return undefined;
    const own = { typeUrl, interest: interestKey(topic.interest, topic.key), authority: authorityOf(topic.interest.name) };
    return this.#outages.find(({ scope }) => within(own, scope))?.error;
  }
}

function keyOf({ typeUrl, interest, authority }: Scope): ScopeKey {
  return { typeUrl, authority, interest: interest === undefined ? undefined : interestKey(interest, readName(interest.name).key) };
}

/** Absent parts do not narrow. */
function within(part: ScopeKey, whole: ScopeKey): boolean {
  return (whole.typeUrl === undefined || whole.typeUrl === part.typeUrl)
    && (whole.interest === undefined || whole.interest === part.interest)
    && (whole.authority === undefined || whole.authority === part.authority);
}
