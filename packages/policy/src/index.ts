/**
 * Policies, which decide what resources a client may see, and a filter that gives each client a
 * source with only these.
 *
 * ```ts
 * const visible = filterSource(cache, { key: "shop", allows: (_, name) => name.startsWith("shop/") });
 * ```
 *
 * @packageDocumentation
 */
export { type ChangeablePolicy, createPolicy, type Policy } from "./policy.ts";
export { filterSource, type FilteredSource, type FilterOptions } from "./filter-source.ts";
export { createSharedFilters, type SharedFilters } from "./shared-filters.ts";
