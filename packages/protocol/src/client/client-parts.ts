import { cutText } from "../text/cut-text.ts";
import { errorText } from "../text/error-text.ts";
import { ofVariant } from "./of-variant.ts";
import type { Wanted } from "./wanted.ts";

/**
 * The parts of a client that not every client needs. A variant brings them along, so that a program
 * contains only those that it uses.
 */
export interface ClientParts {
  /** Returns the text of an error of the server as it is stored: up to `atMost` UTF-16 units. */
  readonly errorText: (text: string, atMost: number) => string;
  /** Returns those of the interests that a variant of a resource answers (C-DYN-7). */
  readonly ofVariant: (covering: readonly Wanted[], constraints: Uint8Array) => readonly Wanted[];
}

/** All parts. */
export const allParts: ClientParts = { errorText, ofVariant };

/**
 * The parts of a client that subscribes to single names without parameters, such as a page. Error
 * texts of the server are not redacted, so they must not be passed on to other clients.
 */
export const nameParts: ClientParts = { errorText: cutText, ofVariant: (covering) => covering };
