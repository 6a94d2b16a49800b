import { XdsError, type Put } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { ownCopy, variantId } from "../links/kept.ts";
import { isRedirect, redirectTarget } from "../links/redirect.ts";
import type { Route } from "./route.ts";
import { change, routeIn, type Taking } from "./taking.ts";

/** A resource that a server gives: it is handed on as it is, leads elsewhere, or is kept for those that follow it. */
export function takePut(taking: Taking, put: Put): void {
  const { typeUrl, resource, as: name = resource.name } = put;
  const route = routeIn(taking, name);
  if (route === undefined) { noteForeign(taking, typeUrl, name); return; }
  taking.news.add(route);
  const leads = taking.books.follow && isRedirect(resource, typeUrl);
  if (route.plain && !route.answers.waits && !leads) { taking.pass.put.push(put); return; }
  const key = nameKey(name);
  route.answers.note(route.asks.covering(typeUrl, key, resource.aliases));
  for (const { sides } of route.asks.globsOf(typeUrl, key)) for (const side of sides) side.add(name, key);
  if (leads) takeRedirect(taking, route, put, name, key);
  else if (keeps(taking, route, put, key)) taking.pass.put.push(put);
}

/** What comes late of a server that is not asked any more is no news to an operator. */
function noteForeign({ books, link, foreign }: Taking, typeUrl: string, name: string): void {
  if (books.routeOfName(name)?.links.includes(link) !== true) foreign.set(typeUrl, (foreign.get(typeUrl) ?? 0) + 1);
}

function takeRedirect(taking: Taking, route: Route, { typeUrl, resource }: Put, name: string, key: string): void {
  const { version, constraints } = resource;
  const target = redirectTarget(typeUrl, resource.payload.value);
  if (typeof target === "string") {
    taking.refused.push({ typeUrl, name, error: new XdsError("INVALID_ARGUMENT", target, { typeUrl, resource: name }) });
    return;
  }
  for (const ask of route.asks.of(typeUrl, key)) change(taking, ask, () => { ask.kept.clear(); });
  taking.books.redirects.set(route, { typeUrl, name, key, target, version, link: taking.link, ...(constraints !== undefined && { constraints }) }, resource.expireMs);
}

/** Notes it for those that follow it; whether readers get it as it is. */
function keeps(taking: Taking, route: Route, { typeUrl, resource }: Put, key: string): boolean {
  const { books, link } = taking;
  if (route.plain) return true;
  books.redirects.drop(route, typeUrl, key);
  for (const ask of route.asks.of(typeUrl, key)) change(taking, ask, () => { ask.kept.put(variantId(resource), link, ownCopy(resource)); });
  return books.isCovered(route, typeUrl, key, resource.aliases);
}
