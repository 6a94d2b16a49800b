import { concatBytes, lengthDelimited } from "@xdstp/core/wire";

const NAME = 3;
const ALIASES = 4;

/** A `Resource` that has the name, also as its alias, and no body: how an on-demand look-up of a virtual host is answered when there is none (S-MISS-2). */
export function encodeEmptyResource(name: string): Uint8Array {
  return concatBytes([lengthDelimited(NAME, name), lengthDelimited(ALIASES, name)]);
}
