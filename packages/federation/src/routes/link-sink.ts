import type { Committed, Held, Refusal, ResourceSink, Scope, Transaction, TypedInterest, XdsError } from "@xdstp/core";
import { globMatches, nameKey } from "@xdstp/uri";

import { variantId } from "../links/kept.ts";
import type { RefusedLink } from "../links/followers.ts";
import type { Ask } from "./ask.ts";
import type { LinkBooks } from "./link-books.ts";
import { orphansOf } from "./orphans-of.ts";
import type { Route } from "./route.ts";
import type { ServerLink } from "./server-link.ts";
import { takeTransaction, type Taken } from "./take-transaction.ts";

/** What a server is given as its sink: it knows what the server gave, under which names ever it is delivered. */
export function createLinkSink(link: ServerLink, books: LinkBooks): ResourceSink {
  return {
    commit: (transaction) => commit(link, books, transaction),
    held: (typeUrl, interest) => (interest === undefined ? presented(link, books, typeUrl) : heldOf(link, books, typeUrl, interest.name, { typeUrl, interest })),
    unavailable: (scope, error) => { unavailable(link, books, scope, error); },
  };
}

function commit(link: ServerLink, books: LinkBooks, transaction: Transaction): Committed | Promise<Committed> {
  const taken = takeTransaction(books, link, transaction);
  const committed = link.part.commit(taken.pass);
  return committed instanceof Promise ? committed.then((done) => conclude(link, books, taken, done, transaction)) : conclude(link, books, taken, committed, transaction);
}

/** What follows from it for others, and what readers refuse of it under other names. */
function conclude(link: ServerLink, books: LinkBooks, taken: Taken, committed: Committed, { complete = [], settled = [] }: Transaction): Committed {
  for (const route of taken.news) route.onNews(link);
  for (const collection of [...complete, ...settled]) dropOrphans(link, books, collection);
  books.owe(taken.owed, link);
  const refused = [...committed.refused ?? [], ...taken.refused, ...refusedLinks(books.followers.settle(), taken.touched)];
  return refused.length === 0 ? committed : { ...committed, refused };
}

function refusedLinks(refused: readonly RefusedLink[], touched: ReadonlySet<Ask>): readonly Refusal[] {
  return refused.flatMap(({ follower, error }) => [...follower.asks].filter((ask) => touched.has(ask)).map((ask) => ({ typeUrl: ask.typeUrl, name: ask.interest.name, error })));
}

/** Members that only servers have given which are not asked any more. */
function dropOrphans(link: ServerLink, books: LinkBooks, collection: TypedInterest): void {
  const route = books.routeOfName(collection.interest.name);
  if (route === undefined || route.links.length < 2 || !route.isLast(link)) return;
  const { typeUrl, interest } = collection;
  const stale = [...route.redirects.get(typeUrl)?.values() ?? []].filter((redirect) => redirect.link !== link && isAsked(collection, redirect.key));
  for (const { key } of stale) books.redirects.drop(route, typeUrl, key);
  const others = route.links.filter((other) => other !== link).flatMap((other) => orphansOf({ typeUrl, interest }, other.part, link.part));
  const remove = [...others.filter(({ name }) => route.redirect(typeUrl, nameKey(name)) === undefined), ...stale.map(({ name }) => ({ typeUrl, name }))];
  if (remove.length > 0) void link.part.commit({ remove });
}

/** What a server is told to be held from it. Not where another one stands in for it, or may: what that gives in its place it would not give again. */
function presented(link: ServerLink, books: LinkBooks, typeUrl: string): Iterable<Held> {
  const held = heldFrom(link, typeUrl, undefined);
  if (![...link.routes].some((route) => route.isContested(link))) return held;
  return [...held].filter(({ name }) => books.routeOfName(name)?.isContested(link) === false);
}

/** The versions of a server are its own (C-RECON-3); that there is something of a name, whoever gave it. */
function heldOf(link: ServerLink, books: LinkBooks, typeUrl: string, name: string, asked: TypedInterest): Iterable<Held> {
  const route = books.routeOfName(name);
  if (route === undefined || (route.links.length === 1 && route.plain)) return heldFrom(link, typeUrl, asked);
  return route.links.flatMap((one) => [...heldFrom(one, typeUrl, asked)]);
}

/** What one server has given: handed on, or kept for those that follow it, or leading elsewhere. */
function heldFrom(link: ServerLink, typeUrl: string, asked: TypedInterest | undefined): Iterable<Held> {
  const direct = link.part.held(typeUrl, asked?.interest);
  const others = [...link.routes].flatMap((route) => keptOf(route, link, typeUrl, asked));
  if (others.length === 0 && link.redirects.size === 0) return direct;
  const redirects: readonly Held[] = [...link.redirects].filter((one) => one.typeUrl === typeUrl && isAsked(asked, one.key)).map(({ name, version }) => ({ name, version }));
  const held = new Map<string, Held>();
  for (const one of [...direct, ...others, ...redirects]) held.set(`${nameKey(one.name)}\n${variantId(one)}`, one);
  return held.values();
}

function keptOf(route: Route, link: ServerLink, typeUrl: string, asked: TypedInterest | undefined): readonly Held[] {
  if (route.plain) return [];
  return [...route.followed].filter((ask) => ask.typeUrl === typeUrl && isAsked(asked, ask.key))
    .flatMap(({ kept }) => [...kept].filter((one) => one.link === link))
    .map(({ resource: { name, version, constraints } }) => ({ name, version, ...(constraints !== undefined && { constraints }) }));
}

function isAsked(asked: TypedInterest | undefined, key: string): boolean {
  if (asked === undefined || asked.interest.name === "*") return true;
  return nameKey(asked.interest.name) === key || globMatches(asked.interest.name, key);
}

function unavailable(link: ServerLink, books: LinkBooks, scope: Scope, error: XdsError | undefined): void {
  const { typeUrl, interest } = scope;
  if (typeUrl !== undefined && interest !== undefined) unavailableOne(link, books, scope, { typeUrl, interest }, error);
  else if (typeUrl !== undefined || scope.authority !== undefined) link.part.unavailable(scope, error);
  else books.reachable(link, error);
  books.followers.settle();
}

function unavailableOne(link: ServerLink, books: LinkBooks, scope: Scope, { typeUrl, interest }: TypedInterest, error: XdsError | undefined): void {
  const route = books.routeOfName(interest.name);
  const ask = route?.uses(link) === true ? route.find(typeUrl, interest) : undefined;
  if (route === undefined || ask === undefined) return;
  route.trouble(ask, link, error);
  if (ask.direct || error === undefined) link.part.unavailable(scope, error);
}
