import {
  encodeConstraints,
  readConstraints,
  textOfConstraints,
  type Constraints,
  type Entry,
  type Interest,
} from "@xdstp/core";

import { show } from "./scene.ts";

export const is = (key: string, value: string): Constraints => ({ kind: "equals", key, value });
export const has = (key: string): Constraints => ({ kind: "exists", key });
export const not = (of: Constraints): Constraints => ({ kind: "not", of });
export const both = (...of: readonly Constraints[]): Constraints => ({ kind: "and", of });
export const either = (...of: readonly Constraints[]): Constraints => ({ kind: "or", of });

/** The constraints of a put or removal. */
export function limitedTo(constraints: Constraints): { readonly constraints: Uint8Array } {
  return { constraints: encodeConstraints(constraints) };
}

/** An interest of a client with these parameters. */
export function asked(name: string, parameters: Readonly<Record<string, string>>): Interest {
  return { name, parameters: new Map(Object.entries(parameters)) };
}

/** A short form of an entry with its variant: `name{env=prod}=content`, or `name{env=prod}-`; an error begins with `!`. */
export function showVariant(entry: Entry): string {
  const constraints = entry.resource?.constraints ?? entry.constraints;
  const read = constraints === undefined ? undefined : readConstraints(constraints);
  const variant =
    read === undefined
      ? ""
      : `{${"constraints" in read ? textOfConstraints(read.constraints) : read.fault}}`;
  return `${entry.error === undefined || entry.resource !== undefined ? "" : "!"}${entry.name}${variant}${show(entry).slice(entry.name.length)}`;
}
