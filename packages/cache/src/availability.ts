import { authorityOf } from "@xdstp/uri";
import { interestKey, type Scope, type XdsError } from "@xdstp/core";

import type { BaseTopic } from "./base-topic.ts";
import type { Outage } from "./cache-state.ts";
import { readName } from "./read-name.ts";

interface ReportedOutage extends Outage {
  readonly source: object;
  readonly scope: ScopeKey;
}

interface ScopeKey {
  readonly typeUrl: string | undefined;
  readonly interest: string | undefined;
  readonly authority: string | null | undefined;
}

/**
 * The outages of a supply, by the feed that reported them. There may be one for each subscribed
 * interest, so each is found without a scan of the others.
 */
export class Availability {
  #wide: readonly ReportedOutage[] = [];
  readonly #exact = new Map<string, readonly ReportedOutage[]>();
  #reports = 0;

  /**
   * Notes an outage, or the end of one. That also ends every narrower outage of the same source.
   */
  set(source: object, scope: Scope, error: XdsError | undefined): void {
    const key = keyOf(scope);
    const isOther = (outage: ReportedOutage): boolean =>
      outage.source !== source || !within(outage.scope, key);
    const said =
      error === undefined ? NONE : [{ source, scope: key, error, report: ++this.#reports }];
    if (key.typeUrl !== undefined && key.interest !== undefined) {
      this.#put(idOf(key.typeUrl, key.interest), [
        ...this.#of(key.typeUrl, key.interest).filter(isOther),
        ...said,
      ]);
      return;
    }
    this.#wide = [...this.#wide.filter(isOther), ...said];
    for (const [id, outages] of this.#exact) this.#put(id, outages.filter(isOther));
  }

  /** Ends all outages of a source. */
  clear(source: object): void {
    this.set(source, {}, undefined);
  }

  /**
   * Returns the outage of a topic, if there is one. A wider outage takes precedence: it causes the
   * others, or hides them.
   */
  of(typeUrl: string, topic: BaseTopic): Outage | undefined {
    if (this.#wide.length + this.#exact.size === 0) return undefined;
    const interest = interestKey(topic.interest, topic.key);
    const scope = { typeUrl, interest, authority: authorityIn(topic.interest.name) };
    const [own] = this.#of(typeUrl, interest);
    return this.#wide.find((outage) => within(scope, outage.scope)) ?? own;
  }

  #of(typeUrl: string, interest: string): readonly ReportedOutage[] {
    return this.#exact.get(idOf(typeUrl, interest)) ?? NONE;
  }

  #put(id: string, outages: readonly ReportedOutage[]): void {
    if (outages.length > 0) this.#exact.set(id, outages);
    else this.#exact.delete(id);
  }
}

const NONE: readonly never[] = [];

function idOf(typeUrl: string, interest: string): string {
  return `${typeUrl}\n${interest}`;
}

/** Returns the scope as a key. The authority of an interest is that of its name. */
function keyOf({ typeUrl, interest, authority }: Scope): ScopeKey {
  if (interest === undefined) return { typeUrl, authority, interest };
  return {
    typeUrl,
    authority: authority ?? authorityIn(interest.name),
    interest: interestKey(interest, readName(interest.name).key),
  };
}

/**
 * Returns the authority of a name; null: an opaque name. undefined: a name with directives, which
 * lead to several authorities.
 */
function authorityIn(name: string): string | null | undefined {
  return name.startsWith("xdstp:") ? authorityOf(name) : null;
}

/** Returns true if a scope is part of another one, whose absent members do not narrow it. */
function within(part: ScopeKey, whole: ScopeKey): boolean {
  return (
    (whole.typeUrl === undefined || whole.typeUrl === part.typeUrl) &&
    (whole.interest === undefined || whole.interest === part.interest) &&
    (whole.authority === undefined || whole.authority === part.authority)
  );
}
