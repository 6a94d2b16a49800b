import type { Reference, ResourceType, StoredResource } from "@xdstp/core";

import { readName } from "./read-name.ts";
import type { TransactionPlan } from "./transaction-plan.ts";
import type { TypeIndex } from "./type-index.ts";
import type { Change } from "./type-store.ts";
import { idOf } from "./variants/variant.ts";

interface KeptRemoval {
  readonly typeUrl: string;
  readonly change: Change;
}

/**
 * Removals that wait until no resource refers to the name any more, of types whose clients would break otherwise (S-REM-3).
 * What refers to what is read only when such a removal comes, and then once per resource: nobody else pays for it.
 */
export class KeptRemovals {
  readonly #types: TypeIndex;
  readonly #kept = new Map<string, KeptRemoval>();

  constructor(types: TypeIndex) {
    this.#types = types;
  }

  /** Takes the removal upon itself. false: it is an ordinary one. */
  keeps(typeUrl: string, change: Change): boolean {
    const descriptor = this.#types.descriptor(typeUrl);
    if (descriptor?.keepWhileReferenced !== true || !this.#isReferenced(descriptor, change)) return false;
    this.#kept.set(keyOf(typeUrl, idOf(change.name)), { typeUrl, change });
    return true;
  }

  /** A transaction has been applied, in whose revision these go that nothing refers to any more. */
  settle({ puts }: TransactionPlan): void {
    if (this.#kept.size === 0) return;
    for (const { put: { typeUrl }, name } of puts) this.#kept.delete(keyOf(typeUrl, idOf(name)));
    for (const [key, { typeUrl, change }] of this.#kept) {
      const descriptor = this.#types.descriptor(typeUrl);
      if (descriptor !== undefined && this.#isReferenced(descriptor, change)) continue;
      this.#kept.delete(key);
      this.#types.type(typeUrl).remove(change);
    }
  }

  #isReferenced({ typeUrl, refersTo = [] }: ResourceType, { name }: Change): boolean {
    if (this.#types.type(typeUrl).find(name)?.entry?.resource === undefined) return false;
    return refersTo.some((parent) => {
      const references = this.#types.descriptor(parent)?.references;
      return references !== undefined && this.#types.type(parent).all().some(({ entry }) => refersToName(entry?.resource, references, typeUrl, name.key));
    });
  }
}

const known = new WeakMap<StoredResource, readonly Reference[]>();

function refersToName(resource: StoredResource | undefined, references: (payload: Uint8Array) => readonly Reference[], typeUrl: string, key: string): boolean {
  if (resource === undefined) return false;
  let found = known.get(resource);
  if (found === undefined) known.set(resource, (found = references(resource.payload.value)));
  return found.some((reference) => reference.typeUrl === typeUrl && readName(reference.name).key === key);
}

function keyOf(typeUrl: string, key: string): string {
  return `${typeUrl} ${key}`;
}
