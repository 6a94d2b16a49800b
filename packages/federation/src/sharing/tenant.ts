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

/** One of the federations that share a server, and its subscriptions there. */
export class Tenant {
  /** Receives its part of each transaction. */
  readonly sink: ResourceSink;
  readonly #wanted = new InterestMap<TypedInterest>();
  readonly #inWildcard: (name: string) => boolean;

  /** @param inWildcard - Returns true if its `*` covers a name (S-WILD-8) */
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

  /** Returns true if it subscribes to exactly this interest. */
  wants(typeUrl: string, interest: Interest): boolean {
    return this.#wanted.get(typeUrl, interest, nameKey(interest.name)) !== undefined;
  }

  /** Returns true if it subscribes to a name, or to a collection that contains it. */
  covers(typeUrl: string, name: string, aliases?: readonly string[]): boolean {
    return this.covering(typeUrl, name, aliases).length > 0;
  }

  /** Returns its subscriptions that cover a name. */
  covering(typeUrl: string, name: string, aliases?: readonly string[]): readonly TypedInterest[] {
    return this.#wanted
      .covering(typeUrl, nameKey(name), globOf(name), aliases?.map(nameKey))
      .filter(({ interest }) => interest.name !== "*" || this.#inWildcard(name));
  }

  /** Returns true if it has the resource, under whichever name it subscribes to it. */
  holds(typeUrl: string, name: string): boolean {
    return hasAny(this.sink.held(typeUrl, { name }));
  }

  /**
   * Returns true if it has the resource from the server itself, not from a server that replaces it.
   */
  hasOf(typeUrl: string, interest: Interest): boolean {
    for (const { standIn } of this.sink.held(typeUrl, interest))
      if (standIn === undefined) return true;
    return false;
  }
}

/**
 * Returns the tenants that subscribe to a name. If none does, returns all: the resource may have
 * been subscribed under another name of it (C-ALIAS-3).
 */
function whoAsksFor(
  tenants: readonly Tenant[],
  typeUrl: string,
  name: string,
  aliases?: readonly string[],
): readonly Tenant[] {
  const asking = tenants.filter((tenant) => tenant.covers(typeUrl, name, aliases));
  return asking.length === 0 ? tenants : asking;
}

/**
 * Returns the part of a transaction for each tenant. A tenant without a part is not in the map.
 * Removals and refreshes are sent to all tenants: a tenant that has not cached the name ignores
 * them.
 */
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

/**
 * Returns the resources that the tenants have. If a tenant lacks a resource that others have, or
 * has another version of it, the server has to send it again.
 */
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
  // A resource from the server itself takes precedence over one of another server.
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

/** The result of a transaction whose parts several tenants have committed. */
interface JointCommitted {
  readonly committed: Committed;
  /** The tenants that have rejected, for each rejection. */
  readonly rejecters: ReadonlyMap<Rejection, readonly Tenant[]>;
}

/**
 * Joins the results: each name that a tenant rejects is rejected once, for the reason of the first
 * tenant.
 */
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

/**
 * Adds the rejected name to the error, so that it is reported only to the tenants that rejected it.
 */
function asRejected({ typeUrl, name, error }: Rejection): Rejection {
  const { code, text, context } = error;
  const about = { ...context, typeUrl, resource: name, reason: "rejected" } as const;
  return { typeUrl, name, error: new XdsError(code, text, about) };
}
