import type { Revisions } from "@xdstp/cache";
import { forwardSource, type ResourceSource } from "@xdstp/core";

import { isOpaque } from "./is-opaque.ts";

/** What a view is made of. */
export interface ViewParts {
  /** For xdstp names. */
  readonly shared: ResourceSource;
  /** For opaque names and `*`: looked up each time, since it ends when it is not used. */
  readonly opaque: () => ResourceSource;
  /** The same, unless it would have to be made. */
  readonly held: () => ResourceSource | undefined;
  /** Of both. */
  readonly revisions: Revisions;
  /** What this is a view of, where it is that of a tenant. */
  readonly viewOf?: ResourceSource;
  /** The tenant, in words for people. */
  readonly viewKey?: string;
}

/** What clients with one key are served: one source, each topic of which is that of the cache which has it (B-RELAY-2). */
export function createView({
  shared,
  opaque,
  held,
  revisions,
  viewOf,
  viewKey,
}: ViewParts): ResourceSource {
  return forwardSource(shared, {
    get revision() {
      return revisions.last;
    },
    viewOf,
    viewKey,
    serves: (typeUrl) => shared.serves(typeUrl) || held()?.serves(typeUrl) === true,
    topic: (typeUrl, interest) =>
      (isOpaque(interest.name) ? opaque() : shared).topic(typeUrl, interest),
    asOf: (typeUrl, name, revision) =>
      (isOpaque(name) ? held() : shared)?.asOf?.(typeUrl, name, revision),
  });
}
