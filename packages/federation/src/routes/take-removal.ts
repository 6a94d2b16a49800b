import type { Removal } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { variantId } from "../links/kept.ts";
import { notFound } from "./not-found.ts";
import type { Route } from "./route.ts";
import {
  change,
  isSaid,
  leaveOut,
  noteUnheard,
  removalOf,
  routeIn,
  type Taking,
} from "./taking.ts";

/** A name that a server says does not exist. */
export function takeRemoval(taking: Taking, removal: Removal): void {
  const { typeUrl, name } = removal;
  const route = routeIn(taking, name);
  if (route === undefined) {
    noteUnheard(taking, { typeUrl, interest: { name } });
    return;
  }
  taking.updates.add(route);
  const key = nameKey(name);
  // An opaque name may be that of a resource that is cached under an alias.
  if (route.plain || !key.startsWith("xdstp:") || taking.books.isCovered(route, typeUrl, key))
    taking.pass.remove.push(removal);
  const isLink = takeGone(taking, route, removal);
  const own = removalOf(typeUrl, name, undefined);
  // Its target is cached under the name itself.
  if (isLink && removal.constraints !== undefined && !isSaid(taking, own)) leaveOut(taking, own);
}

/** What that is to those that follow it. Returns whether it led elsewhere; another variant of it does not. */
export function takeGone(taking: Taking, route: Route, removal: Removal): boolean {
  const { typeUrl, name, error = notFound(typeUrl, name) } = removal;
  const key = nameKey(name);
  if (route.answers.waits) route.answers.note(route.asks.of(typeUrl, key));
  if (route.plain) return false;
  const redirect = route.redirect(typeUrl, key);
  const isLink =
    redirect !== undefined &&
    (removal.constraints === undefined || variantId(redirect) === variantId(removal));
  if (isLink) taking.books.redirects.drop(route, typeUrl, key);
  for (const ask of route.asks.of(typeUrl, key))
    change(taking, ask, () => {
      ask.kept.remove(variantId(removal));
      if (ask.kept.size === 0) ask.missing = error;
    });
  return isLink;
}
