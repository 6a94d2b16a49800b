import type { Held, Interest } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { variantId } from "../links/kept.ts";
import { UNSURE } from "../routes/unsure.ts";
import { whoAsksFor, type Tenant } from "./tenant.ts";

/** What those that share a server hold of it. Where one of them lacks what others have, or has another state of it, the server has to say it again. */
export function jointHeld(
  tenants: readonly Tenant[],
  typeUrl: string,
  interest: Interest | undefined,
): Iterable<Held> {
  const asking = interest === undefined ? tenants : whoAsksFor(tenants, typeUrl, interest.name);
  const books = asking.map(
    (tenant) =>
      [
        tenant,
        new Map(
          Array.from(tenant.sink.held(typeUrl, interest), (held) => [
            `${nameKey(held.name)}\n${variantId(held)}`,
            held,
          ]),
        ),
      ] as const,
  );
  // What the server itself has given to one of them, another cannot have in its place.
  const all = new Map(
    books
      .flatMap(([, held]) => [...held])
      .sort(
        ([, one], [, other]) =>
          Number(one.standIn === undefined) - Number(other.standIn === undefined),
      ),
  );
  return Array.from(all, ([id, held]) =>
    books.every(([tenant, own]) => isSame(tenant, typeUrl, held, own.get(id)))
      ? held
      : {
          ...held,
          version: UNSURE,
          lacking: books.some(
            ([tenant, own]) => own.size === 0 && tenant.covers(typeUrl, held.name),
          ),
        },
  );
}

function isSame(
  tenant: Tenant,
  typeUrl: string,
  { name, version }: Held,
  own: Held | undefined,
): boolean {
  return own === undefined ? !tenant.covers(typeUrl, name) : own.version === version;
}
