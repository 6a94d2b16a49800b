import type { Interest, ResourceSink } from "@xdstp/core";
import { equalBytes } from "@xdstp/core/wire";
import type { ReceivedName } from "./received.ts";
import type { Wanted } from "./wanted.ts";

/** Reads the cached resources of one type from the sink of the client. */
export interface CachedReader {
  readonly typeUrl: string;
  readonly sink: Pick<ResourceSink, "held">;
}

/** Returns true if a resource of this interest is cached, in any variant. */
export function isCached({ sink, typeUrl }: CachedReader, interest: Interest): boolean {
  for (const _ of sink.held(typeUrl, interest)) return true;
  return false;
}

/**
 * Returns true if this variant (TP2) of a name is cached; with `version`, only if it is cached in
 * that version.
 */
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

/**
 * Returns true if a resource of an interest is cached, also under the real name of an alias
 * (C-ALIAS-3).
 */
export function isWantedCached(reader: CachedReader, wanted: Wanted): boolean {
  return interestsOf(wanted).some((interest) => isCached(reader, interest));
}

/**
 * Returns true if a resource of an interest is cached for all readers that share the sink
 * ({@link Held.lacking}). The fetch timer runs for readers that lack it.
 */
export function isCachedByAll({ sink, typeUrl }: CachedReader, wanted: Wanted): boolean {
  for (const interest of interestsOf(wanted))
    for (const { lacking } of sink.held(typeUrl, interest)) if (lacking !== true) return true;
  return false;
}

/**
 * Returns whether another server, which has given all cached resources of an interest, still
 * replaces this one ({@link Held.standIn}). undefined: nothing is cached, or a cached resource is
 * from this server.
 */
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
  return one === other || (one !== undefined && other !== undefined && equalBytes(one, other));
}
