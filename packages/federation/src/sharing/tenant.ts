import {
  type Committed,
  type Held,
  type Interest,
  InterestMap,
  type Put,
  type Rejection,
  type ResourceSink,
  type Transaction,
  type TypedInterest,
  XdsError,
} from "@xdstp/core";
import { globOf, nameKey } from "@xdstp/uri";

import { hasAny, variantKey } from "../links/kept.ts";
import { UNSURE } from "../routes/link-sink.ts";
import { typedNameKey } from "../routes/taking.ts";

/** One of those that share a server, and what it wants of it. */
export class Tenant {
  /** Where it takes what comes for it. */
  readonly sink: ResourceSink;
  readonly #wanted = new InterestMap<TypedInterest>();
  readonly #inWildcard: (name: string) => boolean;

  /** @param inWildcard - Whether its `*` covers a name (S-WILD-8) */
  constructor(sink: ResourceSink, inWildcard: (name: string) => boolean) {
    this.sink = sink;
    this.#inWildcard = inWildcard;
  }

  [Symbol.iterator](): Iterator<TypedInterest> {
    return this.#wanted[Symbol.iterator]();
  }

  add(typeUrl: string, interest: Interest): void {
    if (!this.wants(typeUrl, interest))
      this.#wanted.set(typeUrl, interest, nameKey(interest.name), { typeUrl, interest });
  }

  drop(typeUrl: string, interest: Interest): void {
    this.#wanted.delete(typeUrl, interest, nameKey(interest.name));
  }

  /** Whether it asks for exactly this. */
  wants(typeUrl: string, interest: Interest): boolean {
    return this.#wanted.get(typeUrl, interest, nameKey(interest.name)) !== undefined;
  }

  /** Whether it asks for a name, or for a collection that it is in. */
  covers(typeUrl: string, name: string, aliases?: readonly string[]): boolean {
    return this.covering(typeUrl, name, aliases).length > 0;
  }

  /** What of it covers a name. */
  covering(typeUrl: string, name: string, aliases?: readonly string[]): readonly TypedInterest[] {
    return this.#wanted
      .covering(typeUrl, nameKey(name), globOf(name), aliases?.map(nameKey))
      .filter(({ interest }) => interest.name !== "*" || this.#inWildcard(name));
  }

  /** Whether it has it, under whichever name it asks for it. */
  holds(typeUrl: string, name: string): boolean {
    return hasAny(this.sink.held(typeUrl, { name }));
  }

  /** Whether the server itself has given it, and no other in its place. */
  hasOf(typeUrl: string, interest: Interest): boolean {
    for (const { standIn } of this.sink.held(typeUrl, interest))
      if (standIn === undefined) return true;
    return false;
  }
}

/** The users of a name; all, where it is known under another name by which it was subscribed (C-ALIAS-3). */
function whoAsksFor(
  tenants: readonly Tenant[],
  typeUrl: string,
  name: string,
  aliases?: readonly string[],
): readonly Tenant[] {
  const asking = tenants.filter((tenant) => tenant.covers(typeUrl, name, aliases));
  return asking.length === 0 ? tenants : asking;
}

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
          Array.from(tenant.sink.held(typeUrl, interest), (held) => [variantKey(held), held]),
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

/** What became of a transaction that several have taken their parts of. */
interface JointCommitted {
  readonly committed: Committed;
  /** Who has rejected what these are the reasons for. */
  readonly rejecters: ReadonlyMap<Rejection, readonly Tenant[]>;
}

/** What one of them rejects is rejected: each name once, for the reason of the first. */
export function jointCommitted(all: readonly (readonly [Tenant, Committed])[]): JointCommitted {
  const rejections = new Map<string, { readonly rejection: Rejection; readonly by: Tenant[] }>();
  for (const [tenant, { rejected = [] }] of all)
    for (const rejection of rejected) {
      const id = typedNameKey(rejection.typeUrl, rejection.name);
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
