/**
 * What a client may see: a policy, and the source as the policy shows it.
 *
 * ```ts
 * const visible = filterSource(cache, { key: "shop", allows: (_, name) => name.startsWith("shop/") });
 * ```
 *
 * @packageDocumentation
 */
export type { Policy } from "./policy.ts";
export { createPolicy, type ChangeablePolicy, type PolicyOptions } from "./create-policy.ts";
export { filterSource, type FilteredSource, type FilterOptions } from "./filter-source.ts";
export { createSharedFilters, type FilterLease, type SharedFilters } from "./shared-filters.ts";
