import { XdsError, type Resource } from "@xdstp/core";

import type { Cache } from "./cache.ts";

type Check = Parameters<Cache["check"]>[2];
import type { ReadName } from "./read-name.ts";
import type { TypeHost } from "./type-store.ts";

/** Several may register the same function. */
interface Registered {
  readonly check: Check;
}

/** The checks of readers, by type and by key of what they concern. */
export class CheckBook {
  readonly #checks = new Map<string, Map<string, Set<Registered>>>();

  /** Returns a function that takes the check away again. */
  add(typeUrl: string, key: string, check: Check): () => void {
    const keys = this.#checks.get(typeUrl) ?? new Map<string, Set<Registered>>();
    const checks = keys.get(key) ?? new Set<Registered>();
    const registered = { check };
    this.#checks.set(typeUrl, keys.set(key, checks.add(registered)));
    return () => {
      checks.delete(registered);
      if (checks.size === 0 && keys.get(key) === checks) keys.delete(key);
      if (keys.size === 0 && this.#checks.get(typeUrl) === keys) this.#checks.delete(typeUrl);
    };
  }

  /** What the first check that rejects says. */
  reject(
    typeUrl: string,
    name: ReadName,
    text: string,
    resource: Resource,
    types: Pick<TypeHost, "inWildcard">,
  ): XdsError | undefined {
    const keys = this.#checks.get(typeUrl);
    if (keys === undefined) return undefined;
    const { key, parent } = name;
    return (
      ask(keys.get(key), text, resource) ??
      (parent === undefined ? undefined : ask(keys.get(parent), text, resource)) ??
      (keys.has("*") && types.inWildcard(typeUrl, text, name)
        ? ask(keys.get("*"), text, resource)
        : undefined)
    );
  }
}

/** Others wrote these: one that throws rejects. */
function ask(
  checks: ReadonlySet<Registered> | undefined,
  text: string,
  resource: Resource,
): XdsError | undefined {
  if (checks === undefined) return undefined;
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
