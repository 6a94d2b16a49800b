import {
  type Fault,
  type Put,
  type Refresh,
  type Resource,
  type Transaction,
  XdsError,
} from "@xdstp/core";
import { readRedirect } from "@xdstp/protos/xds";
import { globOf, isGlob, type Locator, nameKey, type XdstpLocator } from "@xdstp/uri";

import { ownCopy, variantId } from "../links/kept.ts";
import { locatorFault, locatorOf } from "../links/locator-of.ts";
import { change, createTaking, type LinkBooks, routeIn, type Taking, withName } from "./taking.ts";
import type { FollowedRedirect, Route } from "./route.ts";
import type { ServerLink } from "./server-link.ts";
import { takeComplete, takeRemoval, takeSettled } from "./take-removal.ts";

/**
 * A sorted transaction of a server: the part that is passed on to readers, and the results of the
 * rest.
 */
export interface Taken extends Pick<Taking, "rejected" | "touched" | "updates" | "owed"> {
  /** The part that is passed on to readers. */
  readonly pass: Transaction;
}

const NONE: readonly never[] = [];

/**
 * Sorts the transaction of a server: resources to pass on, redirects, resources that have
 * followers, and names of other servers.
 */
export function takeTransaction(
  books: LinkBooks,
  link: ServerLink,
  transaction: Transaction,
): Taken {
  const {
    put = NONE,
    remove = NONE,
    refresh = NONE,
    complete = NONE,
    settled = NONE,
    label,
    atomic,
  } = transaction;
  const taking = createTaking(books, link, transaction);
  for (const one of put) takePut(taking, one);
  for (const one of remove) takeRemoval(taking, one);
  for (const one of refresh) takeRefresh(taking, one);
  for (const one of complete) takeComplete(taking, one);
  for (const one of settled) takeSettled(taking, one);
  for (const [typeUrl, names] of taking.foreign) books.foreign(link, typeUrl, names);
  const parts = Object.entries(taking.pass).filter(([, part]) => part.length > 0);
  return {
    ...taking,
    pass: {
      ...Object.fromEntries(parts),
      ...(label !== undefined && { label }),
      ...(atomic !== undefined && { atomic }),
    },
  };
}

/** Applies a heartbeat of a resource (C-TTL-3). The resource may be delivered under another name, or may be a redirect. */
function takeRefresh(taking: Taking, refresh: Refresh): void {
  const { books, link, pass } = taking;
  const { typeUrl, name, expireMs } = refresh;
  const route = routeIn(taking, name);
  if (route === undefined) return;
  pass.refresh.push(refresh);
  if (route.plain) return;
  const key = nameKey(name);
  const redirect = route.redirect(typeUrl, key);
  if (redirect?.link === link) books.redirects.expire(redirect, expireMs);
  for (const { kept } of route.asks.ofName(typeUrl, key))
    kept.refresh(variantId(refresh), expireMs);
}

/** Applies a put: the resource is passed on as it is, is a redirect, or is kept for its followers. */
function takePut(taking: Taking, given: Put): void {
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

/** Removes aliases of authorities that the server does not serve (C-AUTH-7). */
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

/**
 * Counts a name of an authority that the server does not serve. A late response of a server that is
 * no longer in use is not counted.
 */
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
    {
      route,
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

/** Keeps a resource for its followers. Returns true if readers receive it under its own name. */
function keeps(taking: Taking, route: Route, { typeUrl, resource }: Put, key: string): boolean {
  const { books, link } = taking;
  if (route.plain) return true;
  books.redirects.drop(route.redirect(typeUrl, key));
  for (const ask of route.asks.ofName(typeUrl, key))
    change(taking, ask, () => {
      ask.kept.put(variantId(resource), link, ownCopy(resource));
    });
  return route.asks.ofReaders(typeUrl, key, resource.aliases).length > 0;
}

/** The type URL of a redirect (C-REDIR-1). */
const REDIRECT_TYPE_URL = "type.googleapis.com/xds.core.v3.ResourceLocator";

/** Returns true if a resource is a redirect. */
function isRedirect({ payload }: Resource, typeUrl: string): boolean {
  return payload.typeUrl === REDIRECT_TYPE_URL && typeUrl !== REDIRECT_TYPE_URL;
}

/**
 * Returns the target of a redirect, or the reason why the redirect is rejected: it is unreadable,
 * of another type (C-REDIR-5), a glob (C-REDIR-6), or of another scheme (C-REDIR-8).
 */
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
