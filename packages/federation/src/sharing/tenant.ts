import { type Interest, InterestMap, type ResourceSink, type TypedInterest } from "@xdstp/core";
import { globOf, nameKey } from "@xdstp/uri";

/** One of those that share a server, and what it wants of it. */
export class Tenant {
  /** Where it takes what comes for it. */
  readonly sink: ResourceSink;
  readonly #wanted = new InterestMap<TypedInterest>();
  readonly #inWildcard: (name: string) => boolean;

  /** @param inWildcard - Whether its `*` covers a name (S-WILD-8) */
  constructor(sink: ResourceSink, inWildcard: (name: string) => boolean) {
    this.sink = sink;
    this.#inWildcard = inWildcard;
  }

  [Symbol.iterator](): Iterator<TypedInterest> {
    return this.#wanted[Symbol.iterator]();
  }

  add(typeUrl: string, interest: Interest): void {
    if (!this.wants(typeUrl, interest))
      this.#wanted.set(typeUrl, interest, nameKey(interest.name), { typeUrl, interest });
  }

  drop(typeUrl: string, interest: Interest): void {
    this.#wanted.delete(typeUrl, interest, nameKey(interest.name));
  }

  /** Whether it asks for exactly this. */
  wants(typeUrl: string, interest: Interest): boolean {
    return this.#wanted.get(typeUrl, interest, nameKey(interest.name)) !== undefined;
  }

  /** Whether it asks for a name, or for a collection that it is in. */
  covers(typeUrl: string, name: string, aliases?: readonly string[]): boolean {
    return this.covering(typeUrl, name, aliases).length > 0;
  }

  /** What of it covers a name. */
  covering(typeUrl: string, name: string, aliases?: readonly string[]): readonly TypedInterest[] {
    return this.#wanted
      .covering(typeUrl, nameKey(name), globOf(name), aliases?.map(nameKey))
      .filter(({ interest }) => interest.name !== "*" || this.#inWildcard(name));
  }

  /** Whether it has it, under whichever name it asks for it. */
  holds(typeUrl: string, name: string): boolean {
    for (const _ of this.sink.held(typeUrl, { name })) return true;
    return false;
  }

  /** Whether the server itself has given it, and no other in its place. */
  hasOf(typeUrl: string, interest: Interest): boolean {
    for (const { standIn } of this.sink.held(typeUrl, interest))
      if (standIn === undefined) return true;
    return false;
  }
}

/** The users of a name; all, where it is known under another name by which it was subscribed (C-ALIAS-3). */
export function whoAsksFor(
  tenants: readonly Tenant[],
  typeUrl: string,
  name: string,
  aliases?: readonly string[],
): readonly Tenant[] {
  const asking = tenants.filter((tenant) => tenant.covers(typeUrl, name, aliases));
  return asking.length === 0 ? tenants : asking;
}
