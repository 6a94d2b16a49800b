import type { ResourceSource } from "@xdstp/core";
import { filterSource, type FilteredSource, type FilterOptions } from "./filter-source.ts";
import type { Policy } from "./policy.ts";

/** One filter for each source and policy key. */
export interface SharedFilters {
  /**
   * Returns the filter of a source and the key of a policy. The first policy with a key decides for
   * all of them.
   */
  acquire(
    source: ResourceSource,
    policy: Policy,
  ): {
    /** The filter, which is the same for every lease of the source and the policy key. */
    readonly source: FilteredSource;
    /** Ends the lease; call it once. The filter is closed with its last lease. */
    release(): void;
  };
}

interface Held {
  readonly filter: FilteredSource;
  leases: number;
}

/**
 * Shares filters, so that streams with equal rights have one view and its bytes. A filter is
 * created with its first lease and closed with its last one.
 */
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
