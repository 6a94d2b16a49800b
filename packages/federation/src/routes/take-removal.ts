import type { Removal } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { variantId } from "../links/kept.ts";
import { notFound } from "./not-found.ts";
import type { Route } from "./route.ts";
import { change, noteUnheard, routeIn, type Taking } from "./taking.ts";

/** A name that a server says does not exist. */
export function takeRemoval(taking: Taking, removal: Removal): void {
  const { typeUrl, name } = removal;
  const route = routeIn(taking, name);
  if (route === undefined) {
    noteUnheard(taking, { typeUrl, interest: { name } });
    return;
  }
  taking.news.add(route);
  const key = nameKey(name);
  // An opaque name may be that of what is held under an alias.
  if (route.plain || !key.startsWith("xdstp:") || taking.books.isCovered(route, typeUrl, key)) taking.pass.remove.push(removal);
  takeGone(taking, route, removal);
}

/** What that is to those that follow it. */
export function takeGone(taking: Taking, route: Route, removal: Removal): void {
  const { typeUrl, name, error = notFound(typeUrl, name) } = removal;
  const key = nameKey(name);
  if (route.waits) route.answered(route.asks.of(typeUrl, key));
  if (route.plain) return;
  taking.books.redirects.drop(route, typeUrl, key);
  for (const ask of route.asks.of(typeUrl, key)) change(taking, ask, () => {
    ask.kept.remove(variantId(removal));
    if (ask.kept.size === 0) ask.missing = error;
  });
}
