import type { Transaction, Refresh } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import type { LinkBooks } from "./link-books.ts";
import type { ServerLink } from "./server-link.ts";
import { takePut } from "./take-put.ts";
import { takeRemoval, takeComplete, takeSettled } from "./take-removal.ts";
import { createTaking, type Taking, routeIn } from "./taking.ts";
import { variantId } from "../links/kept.ts";

/** What a transaction of a server is to readers, and what became of the rest. */
export interface Taken extends Pick<Taking, "rejected" | "touched" | "updates" | "owed"> {
  /** As readers get it. */
  readonly pass: Transaction;
}

const NONE: readonly never[] = [];

/** Sorts what a server has given: what is handed on, what leads elsewhere, what others follow, what is none of its business. */
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
  if (redirect?.link === link) books.redirects.expire(route, redirect, expireMs);
  for (const { kept } of route.asks.ofName(typeUrl, key))
    kept.refresh(variantId(refresh), expireMs);
}
