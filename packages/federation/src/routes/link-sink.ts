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

/**
 * Replaces the version of a resource that a server may have to send again. No server uses this
 * version.
 */
export const UNSURE = "may have been replaced";

/**
 * Creates the sink of a server. Its `held` lists the resources that the server has sent, under
 * whichever names these are delivered.
 */
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

/**
 * Updates routes and followers after a commit, and adds the rejections of readers under other names
 * to the result.
 */
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

/**
 * Applies the reports that were ignored while the answers of a server did not count. Names are
 * requested again, as the server may be about to send them; collections are settled.
 */
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

/**
 * Returns the rejections of resources that the transaction touched: one for each resource, under
 * however many names readers reject it.
 */
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

/**
 * Removes members that only other servers have sent from a collection that is known completely from
 * this server (C-GRPC-11).
 */
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
 * Removes the resources that other servers have sent of a name that is followed.
 * @param led - True if the name was a redirect that one of them had sent
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

/**
 * Lists the resources of a server with the versions to present to it. If another server replaces
 * this one, or may do so, the versions are `UNSURE`: then the server sends everything again.
 */
function presented(link: ServerLink, books: LinkBooks, typeUrl: string): Iterable<Held> {
  const held = heldFrom(link, books, typeUrl, undefined);
  if (![...books.users.of(link)].some((route) => route.isContested(link))) return held;
  return Array.from(held, (one) =>
    books.routeOfName(one.name)?.isContested(link) === true ? { ...one, version: UNSURE } : one,
  );
}

/**
 * Lists the cached resources of an interest from all servers of the route. Marks those of a server
 * that replaces this one. Versions are presented only to the server that sent them (C-RECON-3).
 */
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

/**
 * `standsIn` is computed when it is read: it depends on the status of the server, which in turn
 * reads the cached resources.
 */
function standingIn(held: Held, standsIn: () => boolean): Held {
  return {
    ...held,
    get standIn() {
      return standsIn();
    },
  };
}

/**
 * Lists the resources that one server has sent: those passed on, those kept for followers, and
 * redirects.
 */
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

/** Returns the redirects that a server has sent. For a single name it reads no others. */
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

/** Records that a server cannot be reached, or can be reached again. */
function reachable(link: ServerLink, books: LinkBooks, error: XdsError | undefined): void {
  if (error === undefined) isWell(link, books);
  else link.fail(undefined, error);
  for (const route of [...books.users.of(link)]) {
    // An empty answer ends the use of later servers too.
    if (error === undefined && link.responded) route.onUpdate(link);
    route.onReachable();
  }
}

/** Records the same for the stream of one type, at a server that has one for each type. */
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

/** Ends the failures of a server, or of one of its types. */
function isWell(link: ServerLink, books: LinkBooks, typeUrl?: string): void {
  if (typeUrl === undefined) {
    link.failure = undefined;
    link.typeFailures.clear();
  } else link.typeFailures.delete(typeUrl);
  link.part.unavailable(typeUrl === undefined ? {} : { typeUrl }, undefined);
  for (const route of books.users.of(link)) route.forgetTrouble(link, typeUrl);
}
