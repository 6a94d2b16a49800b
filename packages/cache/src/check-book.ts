import { InterestMap, XdsError, type Resource } from "@xdstp/core";

import type { Cache } from "./cache.ts";

type Check = Parameters<Cache["check"]>[2];
import type { ReadName } from "./read-name.ts";
import type { TypeHost } from "./type-store.ts";

/** A registration. The same function may be registered several times. */
interface Registered {
  readonly check: Check;
}

/** The checks of readers, by type and by the key of the name, whatever the parameters. */
export class CheckBook {
  readonly #checks = new InterestMap<Set<Registered>>();

  /** Adds a check. Returns a function that removes it. */
  add(typeUrl: string, key: string, check: Check): () => void {
    const interest = { name: key };
    const checks = this.#checks.get(typeUrl, interest, key) ?? new Set<Registered>();
    const registered = { check };
    this.#checks.set(typeUrl, interest, key, checks.add(registered));
    return () => {
      if (checks.delete(registered) && checks.size === 0)
        this.#checks.delete(typeUrl, interest, key);
    };
  }

  /** Returns the error of the first check that rejects. */
  reject(
    typeUrl: string,
    name: ReadName,
    text: string,
    resource: Resource,
    types: Pick<TypeHost, "inWildcard">,
  ): XdsError | undefined {
    if (this.#checks.size === 0) return undefined;
    const of = (key: string | undefined): XdsError | undefined => {
      const [checks] = this.#checks.ofName(typeUrl, key);
      return checks && ask(checks, text, resource);
    };
    const isInWildcard = (): boolean =>
      this.#checks.hasName(typeUrl, "*") && types.inWildcard(typeUrl, text, name);
    return of(name.key) ?? of(name.parent) ?? (isInWildcard() ? of("*") : undefined);
  }
}

/**
 * Calls the checks. They are not part of the cache, so a check that throws rejects the resource.
 */
function ask(
  checks: ReadonlySet<Registered>,
  text: string,
  resource: Resource,
): XdsError | undefined {
  try {
    for (const { check } of checks) {
      const error = check(resource, text);
      if (error !== undefined) return error;
    }
    return undefined;
  } catch (error) {
    return XdsError.from(error);
  }
}
