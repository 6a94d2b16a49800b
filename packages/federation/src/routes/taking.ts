import type { Put, Refresh, Rejection, Removal, Transaction, TypedInterest } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { variantId } from "../links/kept.ts";
import type { Ask } from "./ask.ts";
import type { ForeignNames } from "./foreign-names.ts";
import type { LinkBooks } from "./link-books.ts";
import type { Route } from "./route.ts";
import type { ServerLink } from "./server-link.ts";

/** A transaction of a server while it is sorted. */
export interface Taking {
  readonly books: LinkBooks;
  readonly link: ServerLink;
  readonly given: Transaction;
  /** As readers get it. */
  readonly pass: {
    readonly put: Put[];
    readonly remove: Removal[];
    readonly refresh: Refresh[];
    readonly complete: TypedInterest[];
    readonly settled: TypedInterest[];
  };
  readonly rejected: Rejection[];
  /** What has changed of what others follow. */
  readonly touched: Set<Ask>;
  /** Those that have something new. */
  readonly updates: Set<Route>;
  /** Collections that are known but for members that lead elsewhere. */
  readonly owed: Ask[];
  /** Names that the configuration maps to other servers (C-AUTH-7), by type. */
  readonly foreign: Map<string, ForeignNames>;
  /** What is left out of collections and was removed: these may cover each other. */
  readonly leftOut: Set<string>;
  /** What it puts and removes; made when needed. */
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

/** The subscribers of a name at this server for whom its answers count. */
export function routeIn({ books, link }: Taking, name: string): Route | undefined {
  const route = books.routeOfName(name);
  return route?.uses(link) === true && route.counts(link) ? route : undefined;
}

/** Its silence does not count while it has not answered and another server replaces it: what it is silent of counts afterwards. */
export function noteUnheard({ books, link }: Taking, silent: TypedInterest): void {
  if (books.routeOfName(silent.interest.name)?.uses(link) === true) link.unheard.add(silent);
}

/** Whether a transaction says something of a name, whichever variant of it. */
export function isNamed(taking: Taking, typeUrl: string, name: string): boolean {
  taking.names ??= namesIn(taking.given);
  return taking.names.has(typedNameKey(typeUrl, name));
}

/** Whether it says something of this very variant. */
export function isSaid(taking: Taking, removal: Removal): boolean {
  taking.names ??= namesIn(taking.given);
  return taking.names.has(variantIn(removal));
}

/** It is not among what its collection has now. */
export function leaveOut({ pass, leftOut }: Taking, removal: Removal): void {
  const id = variantIn(removal);
  if (leftOut.has(id)) return;
  leftOut.add(id);
  pass.remove.push(removal);
}

/** What others follow has changed. */
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

/** The removal of one variant of a name. */
export function removalOf(
  typeUrl: string,
  name: string,
  constraints: Uint8Array | undefined,
): Removal {
  return { typeUrl, name, ...(constraints !== undefined && { constraints }) };
}

function variantIn(removal: Removal): string {
  return `${typedNameKey(removal.typeUrl, removal.name)}\n${variantId(removal)}`;
}

/** A map key for a type and a name in any spelling. */
export function typedNameKey(typeUrl: string, name: string): string {
  return `${typeUrl}\n${nameKey(name)}`;
}
