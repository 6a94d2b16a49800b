import {
  type Committed,
  type Held,
  type Interest,
  type Rejection,
  type Removal,
  type ResourceSink,
  type Scope,
  type Transaction,
  type TypedInterest,
  whenDecided,
  type XdsError,
} from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import type { RejectedLink } from "../links/followers.ts";
import { removalOf, variantId, variantKey } from "../links/kept.ts";
import type { LinkBooks } from "./taking.ts";
import { coveredBy, kindOf, notFound } from "./ask.ts";
import type { Ask, FollowedRedirect, Route } from "./route.ts";
import type { KeyedInterest, ServerLink } from "./server-link.ts";
import { takeTransaction, type Taken } from "./take-transaction.ts";

/** In the place of a version that a server may have to say again: no server has it. */
export const UNSURE = "may have been replaced";

/** What a server is given as its sink: it knows what the server gave, under which names ever it is delivered. */
export function createLinkSink(link: ServerLink, books: LinkBooks): ResourceSink {
  return {
    commit: (transaction) => commit(link, books, transaction),
    held: (typeUrl, interest) =>
      interest === undefined
        ? presented(link, books, typeUrl)
        : heldOf(link, books, { typeUrl, interest }),
    unavailable: (scope, error) => {
      unavailable(link, books, scope, error);
    },
  };
}

function commit(link: ServerLink, books: LinkBooks, transaction: Transaction): Committed {
  const taken = takeTransaction(books, link, transaction);
  return whenDecided(link.part.commit(taken.pass), (committed) =>
    conclude(link, books, taken, committed, transaction),
  );
}

/** What follows from it for others, and what readers reject of it under other names. */
function conclude(
  link: ServerLink,
  books: LinkBooks,
  taken: Taken,
  committed: Committed,
  { complete = [], settled = [] }: Transaction,
): Committed {
  for (const route of taken.updates) route.onUpdate(link);
  if (taken.updates.size > 0 && link.unheard.size > 0) observe(link, books);
  for (const collection of [...complete, ...settled]) dropOrphans(link, books, collection);
  books.owe(taken.owed, link);
  const rejected = [
    ...(committed.rejected ?? []),
    ...taken.rejected,
    ...rejectedLinks(books.followers.settle(), taken.touched),
  ];
  return rejected.length === 0 ? committed : { ...committed, rejected };
}

/** Its answers count now, at least for some names that it was silent of. Names are requested again: it may be about to send them. */
function observe(link: ServerLink, books: LinkBooks): void {
  const silent = [...link.unheard];
  link.unheard.clear();
  for (const {
    typeUrl,
    interest: { name },
  } of silent)
    if (kindOf(name) === "name") {
      for (const ask of books.routeOfName(name)?.asks.ofName(typeUrl, nameKey(name)) ?? [])
        if (ask.wanted && ask.route.uses(link)) link.again(ask);
    }
  const settled = silent.filter(({ interest: { name } }) => kindOf(name) !== "name");
  if (settled.length > 0) void commit(link, books, { settled });
}

/** Each once, however many names it is rejected under. */
function rejectedLinks(
  links: readonly RejectedLink[],
  touched: ReadonlySet<Ask>,
): readonly Rejection[] {
  const rejected = links.flatMap(({ asks, error }) =>
    asks
      .filter((ask) => touched.has(ask))
      .map((ask) => [ask, { typeUrl: ask.typeUrl, name: ask.interest.name, error }] as const),
  );
  return [...new Map(rejected).values()];
}

/** Members of a collection that is known completely from one server, which only others have given: they are removed (C-GRPC-11). */
function dropOrphans(
  link: ServerLink,
  books: LinkBooks,
  { typeUrl, interest }: TypedInterest,
): void {
  const route = books.routeOfName(interest.name);
  if (route === undefined || route.links.length < 2 || route.last !== link) return;
  const others = route.links.filter((other) => other !== link);
  const isCovered = coveredBy(interest);
  const isIn = (one: Pick<KeyedInterest, "typeUrl" | "key">): boolean =>
    one.typeUrl === typeUrl && isCovered(one.key);
  const redirects = others.flatMap((other) =>
    [...books.redirects.from(other)].filter(
      (redirect) => isIn(redirect) && route.redirect(typeUrl, redirect.key) === redirect,
    ),
  );
  for (const redirect of redirects) books.redirects.drop(redirect);
  const led = new Set(redirects.map(({ key }) => key));
  for (const ask of route.asks.followed)
    if (ask.kind === "name" && isIn(ask)) dropKept(books, ask, link, led.has(ask.key));
  const own = new Set(Array.from(link.part.held(typeUrl, interest), variantKey));
  const gone: readonly Removal[] = [
    ...others
      .flatMap((other) => [...other.part.held(typeUrl, interest)])
      .filter((held) => !own.has(variantKey(held)))
      .filter(({ name }) => route.redirect(typeUrl, nameKey(name)) === undefined)
      .map(({ name, constraints }) => removalOf(typeUrl, name, constraints)),
    ...redirects.map(({ name }) => ({ typeUrl, name })),
  ];
  const remove = [...new Map(gone.map((removal) => [variantKey(removal), removal])).values()];
  if (remove.length > 0) void link.part.commit({ remove });
}

/**
 * What others have given of a name that is followed.
 * @param led - it led elsewhere by what they gave
 */
function dropKept(books: LinkBooks, ask: Ask, link: ServerLink, led: boolean): void {
  const {
    kept,
    typeUrl,
    interest: { name },
    followers,
  } = ask;
  const others = [...kept].filter(({ link: giver }) => giver !== link);
  for (const { resource } of others) kept.remove(variantId(resource));
  if (others.length === 0 && !led) return;
  if (kept.size === 0) ask.missing = notFound(typeUrl, name);
  for (const follower of followers) follower.touch();
}

/** What a server is sent as cached from it. Where another one replaces it, or may, it has to send everything again: it would not repeat what the other one gives. */
function presented(link: ServerLink, books: LinkBooks, typeUrl: string): Iterable<Held> {
  const held = heldFrom(link, books, typeUrl, undefined);
  if (![...books.users.of(link)].some((route) => route.isContested(link))) return held;
  return Array.from(held, (one) =>
    books.routeOfName(one.name)?.isContested(link) === true ? { ...one, version: UNSURE } : one,
  );
}

/** The versions of a server are its own (C-RECON-3); that there is something of a name, from any server, and whether that server replaces this one. */
function heldOf(link: ServerLink, books: LinkBooks, asked: TypedInterest): Iterable<Held> {
  const { typeUrl, interest } = asked;
  const route = books.routeOfName(interest.name);
  if (route === undefined || (route.links.length === 1 && route.plain))
    return link.part.held(typeUrl, interest);
  const own = route.links.indexOf(link);
  return route.links.flatMap((one, index) =>
    index <= own
      ? [...heldFrom(one, books, typeUrl, interest)]
      : Array.from(heldFrom(one, books, typeUrl, interest), (held) =>
          standingIn(held, () => route.uses(one) || !route.counts(link)),
        ),
  );
}

/** Computed when it is needed: it depends on the status of the server, which reads what is cached. */
function standingIn(held: Held, standsIn: () => boolean): Held {
  return {
    ...held,
    get standIn() {
      return standsIn();
    },
  };
}

/** What one server has given: handed on, or kept for those that follow it, or leading elsewhere. */
function heldFrom(
  link: ServerLink,
  books: LinkBooks,
  typeUrl: string,
  interest: Interest | undefined,
): Iterable<Held> {
  const direct = link.part.held(typeUrl, interest);
  const others = [...books.users.of(link)].flatMap((route) =>
    keptOf(route, link, typeUrl, interest),
  );
  if (others.length === 0 && books.redirects.from(link).size === 0) return direct;
  const redirects: readonly Held[] = redirectsOf(link, books, typeUrl, interest).map(
    ({ name, version }) => ({ name, version }),
  );
  const held = new Map<string, Held>();
  for (const one of [...direct, ...others, ...redirects]) held.set(variantKey(one), one);
  return held.values();
}

/** Of one name nothing else is looked at. */
function redirectsOf(
  link: ServerLink,
  books: LinkBooks,
  typeUrl: string,
  interest: Interest | undefined,
): readonly FollowedRedirect[] {
  if (!isOne(interest)) {
    const isCovered = coveredBy(interest);
    return [...books.redirects.from(link)].filter(
      (one) => one.typeUrl === typeUrl && isCovered(one.key),
    );
  }
  return [...books.users.of(link)]
    .flatMap((route) => route.redirect(typeUrl, nameKey(interest.name)) ?? [])
    .filter((redirect) => redirect.link === link);
}

function keptOf(
  route: Route,
  link: ServerLink,
  typeUrl: string,
  interest: Interest | undefined,
): readonly Held[] {
  if (route.plain) return [];
  const isCovered = coveredBy(interest);
  const asks = isOne(interest)
    ? route.asks.ofName(typeUrl, nameKey(interest.name))
    : [...route.asks.followed].filter((ask) => ask.typeUrl === typeUrl && isCovered(ask.key));
  return asks
    .flatMap(({ kept }) => [...kept].filter((one) => one.link === link))
    .map(({ resource: { name, version, constraints } }) => ({
      name,
      version,
      ...(constraints !== undefined && { constraints }),
    }));
}

function isOne(interest: Interest | undefined): interest is Interest {
  return interest !== undefined && kindOf(interest.name) === "name";
}

function unavailable(
  link: ServerLink,
  books: LinkBooks,
  scope: Scope,
  error: XdsError | undefined,
): void {
  const { typeUrl, interest } = scope;
  if (typeUrl !== undefined && interest !== undefined)
    unavailableOne(link, books, scope, { typeUrl, interest }, error);
  else if (scope.authority !== undefined) link.part.unavailable(scope, error);
  else if (typeUrl !== undefined) typeReachable(link, books, typeUrl, error);
  else reachable(link, books, error);
  if (error === undefined && typeUrl === undefined && link.responded && link.unheard.size > 0)
    observe(link, books);
  books.followers.settle();
}

function unavailableOne(
  link: ServerLink,
  books: LinkBooks,
  scope: Scope,
  { typeUrl, interest }: TypedInterest,
  error: XdsError | undefined,
): void {
  const route = books.routeOfName(interest.name);
  const ask = route?.uses(link) === true ? route.find(typeUrl, interest) : undefined;
  if (route === undefined || ask === undefined) return;
  route.trouble(ask, link, error);
  if (ask.direct || error === undefined) link.part.unavailable(scope, error);
}

/** A server cannot be reached, or can again. */
function reachable(link: ServerLink, books: LinkBooks, error: XdsError | undefined): void {
  if (error === undefined) isWell(link, books);
  else link.fail(undefined, error);
  for (const route of [...books.users.of(link)]) {
    // Also an answer without anything in it ends the use of others.
    if (error === undefined && link.responded) route.onUpdate(link);
    route.onReachable();
  }
}

/** The same of the stream of one type, at a server that has one for each. */
function typeReachable(
  link: ServerLink,
  books: LinkBooks,
  typeUrl: string,
  error: XdsError | undefined,
): void {
  if (error === undefined) isWell(link, books, typeUrl);
  else link.fail(typeUrl, error);
  for (const route of books.users.of(link)) route.onReachable();
}

/** Reports about parts of it are over. */
function isWell(link: ServerLink, books: LinkBooks, typeUrl?: string): void {
  if (typeUrl === undefined) {
    link.failure = undefined;
    link.typeFailures.clear();
  } else link.typeFailures.delete(typeUrl);
  link.part.unavailable(typeUrl === undefined ? {} : { typeUrl }, undefined);
  for (const route of books.users.of(link)) route.forgetTrouble(link, typeUrl);
}
