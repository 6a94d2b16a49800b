import type { ResourceSource } from "@xdstp/core";
import { filterSource, type FilteredSource, type FilterOptions } from "./filter-source.ts";
import type { Policy } from "./policy.ts";

/** A filter, kept while it has users. */
export interface FilterLease {
  readonly source: FilteredSource;
  /** Once. */
  release(): void;
}

/** One filter per source and policy key, shared by everyone who has it. */
export interface SharedFilters {
  acquire(source: ResourceSource, policy: Policy): FilterLease;
}

interface Held {
  readonly filter: FilteredSource;
  leases: number;
}

/** No filters yet. One is dropped when its last lease is released. */
export function createSharedFilters(options: FilterOptions): SharedFilters {
  const bySource = new WeakMap<ResourceSource, Map<string, Held>>();
  return {
    acquire(source, policy) {
      const filters = bySource.get(source) ?? new Map<string, Held>();
      bySource.set(source, filters);
      const held = filters.get(policy.key) ?? {
        filter: filterSource(source, policy, options),
        leases: 0,
      };
      filters.set(policy.key, held);
      held.leases++;
      return {
        source: held.filter,
        release() {
          if (--held.leases > 0) return;
          filters.delete(policy.key);
          held.filter.close();
        },
      };
    },
  };
}
