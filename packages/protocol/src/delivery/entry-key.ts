import type { Entry } from "@xdstp/core";

/** A map key for an entry under a key of its name: variants of a name are entries of their own (S-DYN-2). */
export function entryKey({ resource, constraints }: Entry, key: string): string {
  const which = resource === undefined ? constraints : resource.constraints;
  return which === undefined ? key : `${key}\n${Buffer.from(which).toString("latin1")}`;
}
