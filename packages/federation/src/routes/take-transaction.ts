import { XdsError, type Put, type Refresh, type Refusal, type Removal, type Transaction, type TypedInterest } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { ownCopy, variantId } from "../links/kept.ts";
import { isRedirect, redirectTarget } from "../links/redirect.ts";
import { covers, type Ask } from "./ask.ts";
import type { LinkBooks } from "./link-books.ts";
import type { Route } from "./route.ts";
import type { ServerLink } from "./server-link.ts";

/** What a transaction of a server is to readers, and what became of the rest. */
export interface Taken {
  /** As readers get it. */
  readonly pass: Transaction;
  readonly refused: readonly Refusal[];
  /** What has changed of what others follow. */
  readonly touched: ReadonlySet<Ask>;
  /** Those that have something new. */
  readonly news: ReadonlySet<Route>;
  /** Collections that are known but for members that lead elsewhere. */
  readonly owed: readonly Ask[];
}

/** Sorts what a server has given: what is handed on, what leads elsewhere, what others follow, what is none of its business. */
export function takeTransaction(books: LinkBooks, link: ServerLink, transaction: Transaction): Taken {
  const { put = NONE, remove = NONE, refresh = NONE, complete = NONE, settled = NONE, label, atomic } = transaction;
  const taking = new Taking(books, link, transaction);
  for (const one of put) taking.put(one);
  for (const one of remove) taking.remove(one);
  for (const one of refresh) taking.refresh(one);
  for (const one of complete) taking.complete(one);
  for (const one of settled) taking.settle(one);
  return taking.end({ ...(label !== undefined && { label }), ...(atomic !== undefined && { atomic }) });
}

const NONE: readonly never[] = [];

class Taking {
  readonly #books: LinkBooks;
  readonly #link: ServerLink;
  readonly #given: Transaction;
  readonly #pass = { put: [] as Put[], remove: [] as Removal[], refresh: [] as Refresh[], complete: [] as TypedInterest[], settled: [] as TypedInterest[] };
  readonly #refused: Refusal[] = [];
  readonly #touched = new Set<Ask>();
  readonly #news = new Set<Route>();
  readonly #owed: Ask[] = [];
  readonly #foreign = new Map<string, number>();
  #named: ReadonlySet<string> | undefined;

  constructor(books: LinkBooks, link: ServerLink, given: Transaction) {
    this.#books = books;
    this.#link = link;
    this.#given = given;
  }

  put(put: Put): void {
    const { typeUrl, resource, as: name = resource.name } = put;
    const route = this.#routeOf(name);
    if (route === undefined) this.#foreign.set(typeUrl, (this.#foreign.get(typeUrl) ?? 0) + 1);
    if (route?.counts(this.#link) !== true) return;
    this.#news.add(route);
    const leads = this.#books.follow && isRedirect(resource, typeUrl);
    if (route.plain && !route.waits && !leads) { this.#pass.put.push(put); return; }
    const key = nameKey(name);
    route.answered(route.covering(typeUrl, key, resource.aliases));
    if (leads) this.#redirect(route, put, name, key);
    else if (this.#keeps(route, put, key)) this.#pass.put.push(put);
  }

  remove(removal: Removal): void {
    const route = this.#routeOf(removal.name);
    if (route?.counts(this.#link) !== true) return;
    this.#news.add(route);
    this.#pass.remove.push(removal);
    this.#gone(route, removal);
  }

  refresh(refresh: Refresh): void {
    const route = this.#routeOf(refresh.name);
    if (route === undefined) return;
    this.#pass.refresh.push(refresh);
    if (!route.plain) this.#prolong(route, refresh, nameKey(refresh.name));
  }

  /** What was put is all there is of it. */
  complete(complete: TypedInterest): void {
    const { route, ask } = this.#asked(complete);
    if (route === undefined) return;
    this.#news.add(route);
    if (ask !== undefined) route.answered([ask]);
    if (!route.plain) for (const name of this.#unnamed(route, complete)) this.#gone(route, { typeUrl: complete.typeUrl, name });
    if (ask !== undefined && !ask.direct) return;
    if (ask !== undefined && this.#leadsElsewhere(route, ask)) this.#completeInParts(ask, complete);
    else this.#pass.complete.push(complete);
  }

  settle(settled: TypedInterest): void {
    const { route, ask } = this.#asked(settled);
    if (route === undefined) return;
    if (ask !== undefined) route.answered([ask]);
    if (ask !== undefined && !ask.direct) return;
    if (ask !== undefined && this.#leadsElsewhere(route, ask)) this.#owed.push(ask);
    else this.#pass.settled.push(settled);
  }

  end(whole: Pick<Transaction, "label" | "atomic">): Taken {
    for (const [typeUrl, names] of this.#foreign) this.#books.foreign(this.#link, typeUrl, names);
    const parts = Object.entries(this.#pass).filter(([, part]) => part.length > 0);
    return { pass: { ...Object.fromEntries(parts), ...whole }, refused: this.#refused, touched: this.#touched, news: this.#news, owed: this.#owed };
  }

  /** From servers that are in use for the authority of the name only. */
  #routeOf(name: string): Route | undefined {
    const route = this.#books.routeOfName(name);
    return route?.uses(this.#link) === true ? route : undefined;
  }

  #asked({ typeUrl, interest }: TypedInterest): { readonly route?: Route; readonly ask?: Ask | undefined } {
    const route = this.#routeOf(interest.name);
    return route?.counts(this.#link) === true ? { route, ask: route.find(typeUrl, interest) } : {};
  }

  #redirect(route: Route, { typeUrl, resource }: Put, name: string, key: string): void {
    const target = redirectTarget(typeUrl, resource.payload.value);
    if (typeof target === "string") {
      this.#refused.push({ typeUrl, name, error: new XdsError("INVALID_ARGUMENT", target, { typeUrl, resource: name }) });
      return;
    }
    for (const ask of route.of(typeUrl, key)) this.#change(ask, () => { ask.kept.clear(); });
    this.#books.redirects.set(route, { typeUrl, name, key, target, version: resource.version, link: this.#link }, resource.expireMs);
  }

  /** Notes it for those that follow it; whether readers get it as it is. */
  #keeps(route: Route, { typeUrl, resource }: Put, key: string): boolean {
    if (route.plain) return true;
    this.#books.redirects.drop(route, typeUrl, key);
    for (const ask of route.of(typeUrl, key)) this.#change(ask, () => { ask.kept.put(variantId(resource), this.#link, ownCopy(resource)); });
    return this.#books.isCovered(route, typeUrl, key, resource.aliases);
  }

  #gone(route: Route, removal: Removal): void {
    const { typeUrl, name, error = new XdsError("NOT_FOUND", `${JSON.stringify(name)} does not exist`, { typeUrl, resource: name }) } = removal;
    const key = nameKey(name);
    if (route.waits) route.answered(route.of(typeUrl, key));
    if (route.plain) return;
    this.#books.redirects.drop(route, typeUrl, key);
    for (const ask of route.of(typeUrl, key)) this.#change(ask, () => {
      ask.kept.remove(variantId(removal));
      if (ask.kept.size === 0) ask.missing = error;
    });
  }

  #change(ask: Ask, change: () => void): void {
    if (ask.followers.size === 0) return;
    ask.missing = undefined;
    change();
    this.#touched.add(ask);
    this.#books.followers.touch(ask.followers);
  }

  #prolong(route: Route, refresh: Refresh, key: string): void {
    const redirect = route.redirect(refresh.typeUrl, key);
    if (redirect?.link === this.#link) this.#books.redirects.expire(route, redirect, refresh.expireMs);
    const links = route.of(refresh.typeUrl, key).flatMap(({ kept, followers }) => {
      kept.refresh(variantId(refresh), refresh.expireMs);
      return [...followers].map(({ typeUrl, interest: { name } }) => ({ ...refresh, typeUrl, name }));
    });
    this.#books.followers.refresh(links);
  }

  #leadsElsewhere(route: Route, ask: Ask): boolean {
    return ask.kind !== "name" && (route.redirects.get(ask.typeUrl)?.values() ?? NONE).some(({ key }) => covers(ask, key));
  }

  /** Members that lead elsewhere are not in it, and not gone either. */
  #completeInParts(ask: Ask, complete: TypedInterest): void {
    const named = this.#names();
    for (const { name, constraints } of this.#link.part.held(complete.typeUrl, complete.interest)) {
      if (!named.has(`${complete.typeUrl}\n${nameKey(name)}`)) this.#pass.remove.push({ typeUrl: complete.typeUrl, name, ...(constraints !== undefined && { constraints }) });
    }
    this.#owed.push(ask);
  }

  /** What this server gave of a collection, or of a name, that readers do not hold under its own name, and that is not in the transaction. */
  #unnamed(route: Route, { typeUrl, interest }: TypedInterest): readonly string[] {
    const named = this.#names();
    const ask = route.find(typeUrl, interest);
    const redirects = [...this.#link.redirects].filter((redirect) => redirect.typeUrl === typeUrl && (ask === undefined ? redirect.key === nameKey(interest.name) : covers(ask, redirect.key)));
    const followed = [...route.followed].filter((other) => other.typeUrl === typeUrl && other.kind === "name" && ask !== undefined && covers(ask, other.key));
    const names = [...redirects.map(({ name }) => name), ...followed.map((other) => other.interest.name)];
    return names.filter((name) => !named.has(`${typeUrl}\n${nameKey(name)}`));
  }

  #names(): ReadonlySet<string> {
    const { put = NONE, remove = NONE } = this.#given;
    this.#named ??= new Set([...put.map(({ typeUrl, resource, as }) => `${typeUrl}\n${nameKey(as ?? resource.name)}`), ...remove.map(({ typeUrl, name }) => `${typeUrl}\n${nameKey(name)}`)]);
    return this.#named;
  }
}
