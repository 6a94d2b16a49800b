import { createDeadlines, type ResourceSource, systemClock, XdsError } from "@xdstp/core";
import type { CallPeer } from "@xdstp/grpc/server";
import { parseName, printName, typeUrlFromType } from "@xdstp/uri";

import { type FlagReader, structFlags } from "./flag-reader.ts";
import { defaultFlagLimits, type FlagLimits } from "./flag-limits.ts";
import type { FlagsOptions, FlagView } from "./flags-options.ts";
import { FollowedFlags } from "./followed-flags.ts";

/** One use of a collection. */
export interface OpenFlags {
  readonly flags: FollowedFlags;
  /** Aborts when the call ends or the access is revoked. */
  readonly signal: AbortSignal;
  /** Aborts when the access is revoked. Absent: never. */
  readonly revoked: AbortSignal | undefined;
  readonly release: () => void;
}

/** Flags from the resources of collections. */
export interface FlagSource {
  readonly limits: FlagLimits;
  /** Begins one use of a collection; without a selector, of that in the options. */
  open(
    peer: CallPeer,
    call: { readonly path: string; readonly signal: AbortSignal; readonly selector?: string },
  ): Promise<OpenFlags>;
}

/**
 * Creates a source of flags. A collection is followed while callers use it, and for `keepMs` after.
 * Throws an XdsError with INVALID_ARGUMENT if `collection` is not an xdstp name of the type of the
 * reader.
 */
export function createFlagSource(options: FlagsOptions): FlagSource {
  const { source, reader = structFlags, clock = systemClock } = options;
  const { onRejected = () => undefined, viewOf = (): FlagView => ({ source }) } = options;
  const limits: FlagLimits = { ...defaultFlagLimits, ...options.limits };
  const standard = collectionOf(options.collection, reader);
  const bySource = new Map<ResourceSource, Map<string, FollowedFlags>>();
  let count = 0;
  const drop = (followed: FollowedFlags): void => {
    followed.end();
    const names = bySource.get(followed.source);
    if (names?.delete(followed.collection) === true) count--;
    if (names?.size === 0) bySource.delete(followed.source);
  };
  const unused = createDeadlines<FollowedFlags>(clock, limits.keepMs, drop);
  const follow = (from: ResourceSource, collection: string): FollowedFlags => {
    const known = bySource.get(from)?.get(collection);
    if (known !== undefined) return known;
    if (count >= limits.collections)
      throw new XdsError(
        "RESOURCE_EXHAUSTED",
        `${limits.collections} collections of flags are followed already; raise the limit "collections"`,
      );
    const { documentBytes } = limits;
    const followed = new FollowedFlags(from, {
      reader,
      collection,
      documentBytes,
      onRejected,
      clock,
    });
    const names = bySource.get(from) ?? new Map<string, FollowedFlags>();
    bySource.set(from, names.set(collection, followed));
    count++;
    return followed;
  };
  return {
    limits,
    async open(peer, { path, signal, selector = "" }) {
      const collection = selector === "" ? standard : collectionOf(selector, reader);
      const view = await viewOf(peer, { path, signal });
      const { revoked } = view;
      try {
        const flags = follow(view.source, collection);
        unused.remove(flags);
        flags.users++;
        return {
          flags,
          revoked,
          signal: revoked === undefined ? signal : AbortSignal.any([signal, revoked]),
          release() {
            if (--flags.users === 0) unused.add(flags);
            view.release?.();
          },
        };
      } catch (error) {
        view.release?.();
        throw error;
      }
    },
  };
}

function collectionOf(name: string, reader: FlagReader): string {
  const read = parseName(name);
  if (!read.ok)
    throw new XdsError(
      "INVALID_ARGUMENT",
      `the selector ${JSON.stringify(name.slice(0, 200))} is not an xdstp name or glob: ${read.error.message}`,
    );
  const typeUrl = typeUrlFromType(read.value.resourceType);
  if (typeUrl !== reader.typeUrl)
    throw new XdsError(
      "INVALID_ARGUMENT",
      `${name.slice(0, 200)} has the type ${typeUrl}; flags are served from ${reader.typeUrl}`,
    );
  return printName(read.value);
}
