import type { Transaction } from "@xdstp/core";

import type { LinkBooks } from "./link-books.ts";
import type { ServerLink } from "./server-link.ts";
import { takePut } from "./take-put.ts";
import { takeRefresh } from "./take-refresh.ts";
import { takeRemoval } from "./take-removal.ts";
import { takeComplete, takeSettled } from "./take-whole.ts";
import { createTaking, type Taking } from "./taking.ts";

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
