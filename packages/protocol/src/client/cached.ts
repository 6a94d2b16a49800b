import type { Interest, ResourceSink } from "@xdstp/core";
import type { ReceivedName } from "./received.ts";
import type { Wanted } from "./wanted.ts";

/** What is cached of one type, as the client reads it from its sink. */
export interface CachedReader {
  readonly typeUrl: string;
  readonly sink: Pick<ResourceSink, "held">;
}

/** Something of it is cached, in whichever variant. */
export function isCached({ sink, typeUrl }: CachedReader, interest: Interest): boolean {
  for (const _ of sink.held(typeUrl, interest)) return true;
  return false;
}

/** This variant (TP2) of a name is cached, in this version if one is given. */
export function isVariantCached(
  { sink, typeUrl }: CachedReader,
  { name, constraints }: ReceivedName,
  version?: string,
): boolean {
  for (const held of sink.held(typeUrl, { name }))
    if (
      (version === undefined || held.version === version) &&
      isSame(held.constraints, constraints)
    )
      return true;
  return false;
}

/** Something of an interest is cached, also under the name that it is an alias of (C-ALIAS-3). */
export function isWantedCached(reader: CachedReader, wanted: Wanted): boolean {
  return interestsOf(wanted).some((interest) => isCached(reader, interest));
}

/** The same, where each of those that share the sink has it ({@link Held.lacking}): time counts for who has not. */
export function isCachedByAll({ sink, typeUrl }: CachedReader, wanted: Wanted): boolean {
  for (const interest of interestsOf(wanted))
    for (const { lacking } of sink.held(typeUrl, interest)) if (lacking !== true) return true;
  return false;
}

/** What only another server has given, in the place of this one ({@link Held.standIn}): whether it is still used so. undefined: nothing is cached, or something that is not of that kind. */
export function standInOf({ sink, typeUrl }: CachedReader, wanted: Wanted): boolean | undefined {
  let found: boolean | undefined;
  for (const interest of interestsOf(wanted))
    for (const { standIn } of sink.held(typeUrl, interest)) {
      if (standIn === undefined) return undefined;
      found = standIn || found === true;
    }
  return found;
}

function interestsOf(wanted: Wanted): readonly Interest[] {
  return wanted.kind === "name" && wanted.realName !== undefined
    ? [wanted.interest, { name: wanted.realName }]
    : [wanted.interest];
}

function isSame(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return (
    one === other || (one !== undefined && other !== undefined && Buffer.compare(one, other) === 0)
  );
}
