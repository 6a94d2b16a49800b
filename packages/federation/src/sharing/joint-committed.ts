import { type Committed, type Rejection, XdsError } from "@xdstp/core";

import type { Tenant } from "./tenant.ts";

/** What became of a transaction that several have taken their parts of. */
export interface JointCommitted {
  readonly committed: Committed;
  /** Who has rejected what these are the reasons for. */
  readonly rejecters: ReadonlyMap<Rejection, readonly Tenant[]>;
}

/** What one of them rejects is rejected: each name once, for the reason of the first. */
export function jointCommitted(all: readonly (readonly [Tenant, Committed])[]): JointCommitted {
  const rejections = new Map<string, { readonly rejection: Rejection; readonly by: Tenant[] }>();
  for (const [tenant, { rejected = [] }] of all)
    for (const rejection of rejected) {
      const id = `${rejection.typeUrl}\n${rejection.name}`;
      const known = rejections.get(id) ?? { rejection: asRejected(rejection), by: [] };
      rejections.set(id, known);
      known.by.push(tenant);
    }
  const taken = all.flatMap(([, committed]) => committed.taken ?? []);
  return {
    committed: {
      revision: all[0]?.[1].revision ?? 0,
      ...(rejections.size > 0 && {
        rejected: Array.from(rejections.values(), ({ rejection }) => rejection),
      }),
      ...(taken.length > 0 && { taken: Promise.all(taken).then(() => undefined) }),
    },
    rejecters: new Map(Array.from(rejections.values(), ({ rejection, by }) => [rejection, by])),
  };
}

/** The same, with an error that says what was rejected: it is reported only to those who did. */
function asRejected({ typeUrl, name, error }: Rejection): Rejection {
  const { code, text, context } = error;
  const about = { ...context, typeUrl, resource: name, reason: "rejected" } as const;
  return { typeUrl, name, error: new XdsError(code, text, about) };
}
