import type { Put, Transaction, TypedInterest, XdsError } from "@xdstp/core";

import { whoAsksFor, type Tenant } from "./tenant.ts";

/** The part of a transaction for each of those that share a server; one that is not in it has no part. Removals and refreshes are sent to all: one that has not cached the name ignores them. */
export function shareTransaction(
  { put = [], remove = [], complete, settled, ...others }: Transaction,
  tenants: readonly Tenant[],
  concerns: (
    tenant: Tenant,
    error: XdsError | undefined,
    of: { readonly typeUrl: string; readonly name: string },
  ) => boolean,
): ReadonlyMap<Tenant, Transaction> {
  const puts = new Map<Tenant, Put[]>(tenants.map((tenant) => [tenant, []]));
  for (const one of put) {
    const { typeUrl, resource, as: name = resource.name } = one;
    const asking = whoAsksFor(tenants, typeUrl, name, resource.aliases);
    for (const tenant of tenants)
      if (asking.includes(tenant) || tenant.holds(typeUrl, name)) puts.get(tenant)?.push(one);
  }
  const parts = tenants.map(
    (tenant) =>
      [
        tenant,
        {
          ...others,
          put: puts.get(tenant) ?? [],
          remove: remove.filter((one) => concerns(tenant, one.error, one)),
          complete: wantedOf(tenant, complete),
          settled: wantedOf(tenant, settled),
        },
      ] as const,
  );
  return new Map(parts.filter(([, part]) => hasSome(part)));
}

function wantedOf(
  tenant: Tenant,
  interests: readonly TypedInterest[] = [],
): readonly TypedInterest[] {
  return interests.filter(({ typeUrl, interest }) => tenant.wants(typeUrl, interest));
}

function hasSome({
  put = [],
  remove = [],
  refresh = [],
  complete = [],
  settled = [],
}: Transaction): boolean {
  return put.length + remove.length + refresh.length + complete.length + settled.length > 0;
}
