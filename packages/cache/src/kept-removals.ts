import type { Reference, ResourceType, StoredResource } from "@xdstp/core";

import { idOf, readName, typedKey } from "./read-name.ts";
import type { TransactionPlan } from "./transaction-plan.ts";
import type { TypeIndex } from "./type-index.ts";
import type { Change } from "./type-store.ts";

interface KeptRemoval {
  readonly typeUrl: string;
  readonly change: Change;
}

/**
 * Removals that wait until no resource refers to the name, for types whose clients would break
 * otherwise (S-REM-3).
 * References are read only when such a removal comes, and once per resource; other changes do not
 * pay for them.
 */
export class KeptRemovals {
  readonly #types: TypeIndex;
  readonly #kept = new Map<string, KeptRemoval>();
  /**
   * Keys of all names that are referred to, by type, collected once for all removals of a
   * transaction.
   */
  readonly #referred = new Map<string, ReadonlySet<string>>();

  constructor(types: TypeIndex) {
    this.#types = types;
  }

  /** Keeps a removal back. Returns false for a removal that can be applied at once. */
  keeps(typeUrl: string, change: Change): boolean {
    const descriptor = this.#types.descriptor(typeUrl);
    if (descriptor?.keepWhileReferenced !== true || !this.#isReferenced(descriptor, change))
      return false;
    this.#kept.set(typedKey(typeUrl, idOf(change.name)), { typeUrl, change });
    return true;
  }

  /**
   * Called after a transaction was applied: removes the names that nothing refers to any more, in
   * the revision of the transaction.
   */
  settle({ puts }: TransactionPlan): void {
    this.#referred.clear();
    if (this.#kept.size === 0) return;
    for (const {
      put: { typeUrl },
      name,
    } of puts)
      this.#kept.delete(typedKey(typeUrl, idOf(name)));
    for (const [key, { typeUrl, change }] of this.#kept) {
      const descriptor = this.#types.descriptor(typeUrl);
      if (descriptor !== undefined && this.#isReferenced(descriptor, change)) continue;
      this.#kept.delete(key);
      this.#types.type(typeUrl).remove(change);
    }
    this.#referred.clear();
  }

  #isReferenced(descriptor: ResourceType, { name }: Change): boolean {
    const { typeUrl } = descriptor;
    if (this.#types.type(typeUrl).find(name)?.entry?.resource === undefined) return false;
    const referred = this.#referred.get(typeUrl) ?? this.#gather(descriptor);
    this.#referred.set(typeUrl, referred);
    return referred.has(name.key);
  }

  #gather({ typeUrl, refersTo = [] }: ResourceType): ReadonlySet<string> {
    const keys = new Set<string>();
    for (const parent of refersTo) {
      const references = this.#types.descriptor(parent)?.references;
      if (references === undefined) continue;
      for (const { entry } of this.#types.type(parent).all())
        for (const referred of referredBy(entry?.resource, references))
          if (referred.typeUrl === typeUrl) keys.add(referred.key);
    }
    return keys;
  }
}

interface Referred {
  readonly typeUrl: string;
  readonly key: string;
}

const known = new WeakMap<StoredResource, readonly Referred[]>();

function referredBy(
  resource: StoredResource | undefined,
  references: (payload: Uint8Array) => readonly Reference[],
): readonly Referred[] {
  if (resource === undefined) return [];
  const found = known.get(resource) ?? read(resource, references);
  known.set(resource, found);
  return found;
}

/** Reads references. A payload that cannot be read has none that a client could miss. */
function read(
  { payload }: StoredResource,
  references: (payload: Uint8Array) => readonly Reference[],
): readonly Referred[] {
  try {
    return references(payload.value).map(({ typeUrl, name }) => ({
      typeUrl,
      key: readName(name).key,
    }));
  } catch {
    return [];
  }
}
