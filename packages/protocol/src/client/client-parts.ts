import { cutText } from "../text/cut-text.ts";
import { errorText } from "../text/error-text.ts";
import { concludeIdle, concludeOverdue } from "./conclude-collection.ts";
import { createMemberLimit } from "./member-limit.ts";
import { createNameIndex } from "./name-index.ts";
import { ofVariant } from "./of-variant.ts";
import type { Wanted } from "./wanted.ts";
import { createWantedIndex, type WantedIndex } from "./wanted-index.ts";

/**
 * The parts of a client that not every client needs. A variant brings them along, so that a program
 * contains only those that it uses.
 */
export interface ClientParts {
  /** Creates the index of the subscribed interests of a type. */
  readonly createIndex: (typeUrl: string) => WantedIndex;
  /** How globs and `*` are followed. undefined: single names only. */
  readonly collections: CollectionParts | undefined;
  /** Returns the text of an error of the server as it is stored: up to `atMost` UTF-16 units. */
  readonly errorText: (text: string, atMost: number) => string;
  /** Returns those of the interests that a variant of a resource answers (C-DYN-7). */
  readonly ofVariant: (covering: readonly Wanted[], constraints: Uint8Array) => readonly Wanted[];
}

/** The parts for globs and `*`. */
export interface CollectionParts {
  /** Creates the limit on the members of collections of a type (C-LIM-7). */
  readonly createMemberLimit: typeof createMemberLimit;
  /** Completes a collection when its time limit has passed. */
  readonly concludeOverdue: typeof concludeOverdue;
  /** Completes the collections of a type that have had no further member for some time. */
  readonly concludeIdle: typeof concludeIdle;
}

/** All parts. */
export const allParts: ClientParts = {
  createIndex: createWantedIndex,
  collections: { createMemberLimit, concludeOverdue, concludeIdle },
  errorText,
  ofVariant,
};

/**
 * The parts of a client that subscribes to single names without parameters, such as a page. Error
 * texts of the server are not redacted, so they must not be passed on to other clients.
 */
export const nameParts: ClientParts = {
  createIndex: createNameIndex,
  collections: undefined,
  errorText: cutText,
  ofVariant: (covering) => covering,
};
