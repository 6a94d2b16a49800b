import type { Committed, Refusal } from "@xdstp/core";

import type { Tenant } from "./tenant.ts";

/** What became of a transaction that several have taken their parts of. */
export interface JointCommitted {
  readonly committed: Committed;
  /** Who has refused what these are the reasons for. */
  readonly refusers: ReadonlyMap<Refusal, readonly Tenant[]>;
}

/** What one of them refuses is refused: each name once, for the reason of the first. */
export function jointCommitted(all: readonly (readonly [Tenant, Committed])[]): JointCommitted {
  const refusals = new Map<string, { readonly refusal: Refusal; readonly by: Tenant[] }>();
  for (const [tenant, { refused = [] }] of all)
    for (const refusal of refused) {
      const id = `${refusal.typeUrl}\n${refusal.name}`;
      const known = refusals.get(id) ?? { refusal, by: [] };
      refusals.set(id, known);
      known.by.push(tenant);
    }
  const taken = all.flatMap(([, committed]) => committed.taken ?? []);
  return {
    committed: {
      revision: all[0]?.[1].revision ?? 0,
      ...(refusals.size > 0 && {
        refused: Array.from(refusals.values(), ({ refusal }) => refusal),
      }),
      ...(taken.length > 0 && { taken: Promise.all(taken).then(() => undefined) }),
    },
    refusers: new Map(Array.from(refusals.values(), ({ refusal, by }) => [refusal, by])),
  };
}
