import {
  type Put,
  type Refresh,
  type Rejection,
  type Removal,
  type Transaction,
  type TypedInterest,
} from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import type { Followers } from "../links/followers.ts";
import { removalOf, variantKey } from "../links/kept.ts";
import type { Redirects } from "../links/redirects.ts";
import type { Ask, LinkUsers, Route } from "./route.ts";
import type { ServerLink } from "./server-link.ts";

/** The parts of a federation that the sinks of all servers share. */
export interface LinkBooks {
  /** True if redirects are followed. */
  readonly follow: boolean;
  readonly followers: Followers;
  readonly redirects: Redirects;
  /** The routes that use each server. */
  readonly users: LinkUsers;
  /** Returns the route of a name. `undefined`: there is none. */
  routeOfName(name: string): Route | undefined;
  /**
   * Reports collections that are complete, except that the targets of some redirects among their
   * members are not known yet.
   */
  owe(asks: readonly Ask[], link: ServerLink): void;
  /** Reports that a server has sent names of authorities that it does not serve (C-AUTH-7). */
  foreign(link: ServerLink, typeUrl: string, names: ForeignNames): void;
}

/** A transaction of a server while it is sorted. */
export interface Taking {
  readonly books: LinkBooks;
  readonly link: ServerLink;
  readonly given: Transaction;
  /** The part that is passed on to readers. */
  readonly pass: {
    readonly put: Put[];
    readonly remove: Removal[];
    readonly refresh: Refresh[];
    readonly complete: TypedInterest[];
    readonly settled: TypedInterest[];
  };
  readonly rejected: Rejection[];
  /** Subscriptions with followers that the transaction has changed. */
  readonly touched: Set<Ask>;
  /** Routes that have received something. */
  readonly updates: Set<Route>;
  /** Collections that are complete, except for the targets of redirects among their members. */
  readonly owed: Ask[];
  /** Names that the configuration maps to other servers (C-AUTH-7), by type. */
  readonly foreign: Map<string, ForeignNames>;
  /**
   * Keys of members that were removed because a collection does not have them. Each is removed
   * once, even if collections overlap.
   */
  readonly leftOut: Set<string>;
  /** Keys of the names that the transaction puts and removes. Computed when first needed. */
  names?: ReadonlySet<string>;
}

export function createTaking(books: LinkBooks, link: ServerLink, given: Transaction): Taking {
  return {
    books,
    link,
    given,
    pass: { put: [], remove: [], refresh: [], complete: [], settled: [] },
    rejected: [],
    touched: new Set(),
    updates: new Set(),
    owed: [],
    foreign: new Map(),
    leftOut: new Set(),
  };
}

/** Returns the route of a name, if this server is in use there and its answers count. */
export function routeIn({ books, link }: Taking, name: string): Route | undefined {
  const route = books.routeOfName(name);
  return route?.uses(link) === true && route.counts(link) ? route : undefined;
}

/**
 * Records an interest that a server reported as missing or settled, if its answers do not count
 * yet: it has not answered on this stream, and another server replaces it.
 */
export function noteUnheard({ books, link }: Taking, silent: TypedInterest): void {
  if (books.routeOfName(silent.interest.name)?.uses(link) === true) link.unheard.add(silent);
}

/** Returns true if a transaction puts or removes a name, in any variant. */
export function isNamed(taking: Taking, typeUrl: string, name: string): boolean {
  taking.names ??= namesIn(taking.given);
  return taking.names.has(typedNameKey(typeUrl, name));
}

/** Returns true if a transaction puts or removes this variant. */
export function isSaid(taking: Taking, removal: Removal): boolean {
  taking.names ??= namesIn(taking.given);
  return taking.names.has(variantIn(removal));
}

/** Removes a member that its collection no longer has. */
export function leaveOut({ pass, leftOut }: Taking, removal: Removal): void {
  const id = variantIn(removal);
  if (leftOut.has(id)) return;
  leftOut.add(id);
  pass.remove.push(removal);
}

/** Changes the kept resources of a subscription, and marks its followers. */
export function change({ touched }: Taking, ask: Ask, how: () => void): void {
  if (!ask.route.asks.isFollowed(ask)) return;
  ask.missing = undefined;
  ask.expired = false;
  how();
  touched.add(ask);
  for (const follower of ask.followers) follower.touch();
}

function namesIn({ put = [], remove = [] }: Transaction): ReadonlySet<string> {
  const said: readonly Removal[] = [
    ...put.map(({ typeUrl, resource: { name, constraints }, as = name }) =>
      removalOf(typeUrl, as, constraints),
    ),
    ...remove,
  ];
  return new Set(said.flatMap((one) => [typedNameKey(one.typeUrl, one.name), variantIn(one)]));
}

function variantIn(removal: Removal): string {
  return `${removal.typeUrl}\n${variantKey(removal)}`;
}

/** Returns a map key for a type and a name in any spelling. */
export function typedNameKey(typeUrl: string, name: string): string {
  return `${typeUrl}\n${nameKey(name)}`;
}

/** The names in one response that the configuration maps to other servers (C-AUTH-7). */
export interface ForeignNames {
  readonly count: number;
  /** A hash of the set of names, independent of their order. */
  readonly hash: number;
}

/** Adds one name. The name itself is not stored, since a server may send many. */
export function withName(
  { count, hash }: ForeignNames = { count: 0, hash: 0 },
  name: string,
): ForeignNames {
  return { count: count + 1, hash: (hash + hashOf(name)) % MODULUS };
}

/** The range of a hash. The sum of two hashes is below 2^53, so it is exact. */
const MODULUS = 2 ** 52;

/** A hash of 52 bits: FNV-1a over UTF-16 units, from two start values. */
function hashOf(text: string): number {
  return (fnv(text, 0x811c9dc5) >>> 12) * 2 ** 32 + fnv(text, 0x9747b28c);
}

function fnv(text: string, start: number): number {
  let hash = start;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
