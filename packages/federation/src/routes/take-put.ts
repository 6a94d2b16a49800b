import { XdsError, type Put, type Fault, type Resource } from "@xdstp/core";
import { globOf, nameKey, isGlob, type Locator, type XdstpLocator } from "@xdstp/uri";
import { readRedirect } from "@xdstp/protos/xds";

import { ownCopy, variantId } from "../links/kept.ts";
import { withName } from "./foreign-names.ts";
import type { FollowedRedirect, Route } from "./route.ts";
import { change, routeIn, type Taking } from "./taking.ts";
import { locatorFault } from "../links/locator-fault.ts";
import { locatorOf } from "../links/locator-of.ts";

/** A resource that a server gives: it is handed on as it is, leads elsewhere, or is kept for those that follow it. */
export function takePut(taking: Taking, given: Put): void {
  const put = withOwnAliases(taking, given);
  const { typeUrl, resource, as: name = resource.name } = put;
  const route = routeIn(taking, name);
  if (route === undefined) {
    noteForeign(taking, typeUrl, name);
    return;
  }
  taking.updates.add(route);
  const leads = taking.books.follow && isRedirect(resource, typeUrl);
  if (route.plain && !route.answers.waits && !leads) {
    taking.pass.put.push(put);
    return;
  }
  const key = nameKey(name);
  const glob = globOf(key);
  route.answers.note(route.asks.covering(typeUrl, key, glob, resource.aliases?.map(nameKey)));
  const target = leads ? redirectTarget(typeUrl, resource.payload.value) : undefined;
  if (target !== undefined && "text" in target) {
    taking.rejected.push({
      typeUrl,
      name,
      error: new XdsError("INVALID_ARGUMENT", target.text, {
        typeUrl,
        resource: name,
        rule: target.rule,
      }),
    });
    return;
  }
  for (const { sides } of route.asks.ofName(typeUrl, glob))
    for (const side of sides) side.add(name, key);
  if (target !== undefined) takeRedirect(taking, route, put, { name, key, target });
  else if (keeps(taking, route, put, key)) taking.pass.put.push(put);
}

/** By an alias, too, a server defines only names of its own authorities (C-AUTH-7). */
function withOwnAliases(taking: Taking, put: Put): Put {
  const {
    typeUrl,
    resource: { aliases },
  } = put;
  if (aliases === undefined || aliases.length === 0) return put;
  const own = aliases.filter((alias) => routeIn(taking, alias) !== undefined);
  if (own.length === aliases.length) return put;
  for (const alias of aliases) if (!own.includes(alias)) noteForeign(taking, typeUrl, alias);
  return { ...put, resource: { ...put.resource, aliases: own } };
}

/** A late response of a server that is not in use any more does not concern an operator. */
function noteForeign({ books, link, foreign }: Taking, typeUrl: string, name: string): void {
  if (books.routeOfName(name)?.links.includes(link) !== true)
    foreign.set(typeUrl, withName(foreign.get(typeUrl), name));
}

function takeRedirect(
  taking: Taking,
  route: Route,
  { typeUrl, resource }: Put,
  { name, key, target }: Pick<FollowedRedirect, "name" | "key" | "target">,
): void {
  const { version, constraints } = resource;
  for (const ask of route.asks.ofName(typeUrl, key))
    change(taking, ask, () => {
      ask.kept.clear();
    });
  taking.books.redirects.set(
    route,
    {
      typeUrl,
      name,
      key,
      target,
      version,
      link: taking.link,
      ...(constraints !== undefined && { constraints }),
    },
    resource.expireMs,
  );
}

/** Notes it for those that follow it; whether readers get it as it is. */
function keeps(taking: Taking, route: Route, { typeUrl, resource }: Put, key: string): boolean {
  const { books, link } = taking;
  if (route.plain) return true;
  books.redirects.drop(route, typeUrl, key);
  for (const ask of route.asks.ofName(typeUrl, key))
    change(taking, ask, () => {
      ask.kept.put(variantId(resource), link, ownCopy(resource));
    });
  return books.isCovered(route, typeUrl, key, resource.aliases);
}

/** The type URL of a redirect (C-REDIR-1). */
const REDIRECT_TYPE_URL = "type.googleapis.com/xds.core.v3.ResourceLocator";

/** A resource that leads elsewhere. */
function isRedirect({ payload }: Resource, typeUrl: string): boolean {
  return payload.typeUrl === REDIRECT_TYPE_URL && typeUrl !== REDIRECT_TYPE_URL;
}

/** Where a redirect leads; or why it is rejected: it is unreadable, of another type (C-REDIR-5), a glob (C-REDIR-6), of another scheme (C-REDIR-8). */
function redirectTarget(typeUrl: string, payload: Uint8Array): XdstpLocator | Fault {
  const read = readRedirect(payload);
  if (!read.ok) return { text: `the redirect cannot be read: ${read.reason}` };
  const locator = locatorOf(read.value);
  if ("text" in locator) return { ...locator, text: `the redirect leads nowhere: ${locator.text}` };
  return faultOf(typeUrl, locator) ?? (locator as XdstpLocator);
}

function faultOf(typeUrl: string, locator: Locator): Fault | undefined {
  const fault =
    locatorFault(typeUrl, locator) ??
    (isGlob(locator) ? { text: "its target is a glob", rule: "C-REDIR-6" } : undefined);
  return fault === undefined
    ? undefined
    : { ...fault, text: `the redirect is rejected: ${fault.text}` };
}
