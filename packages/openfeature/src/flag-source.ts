import { createDeadlines, type ResourceSource, systemClock, XdsError } from "@xdstp/core";
import type { CallPeer } from "@xdstp/grpc/server";
import { parseName, printName, typeUrlFromType } from "@xdstp/uri";

import type { FlagDocument } from "./flag-document.ts";
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
  /** Follows the collection in the options until the signal aborts, also while no caller uses it. */
  follow(signal: AbortSignal): void;
  /** The number of collections that are followed, over all callers. */
  readonly collections: number;
}

/** Milliseconds. A wait without a change begins again after it. */
export const longMs = 3_600_000;

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
  let isFollowed = false;
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
      // Views of callers have the same resources, or some of them.
      onRejected: (rejected) => {
        if (!isFollowed || from === source || collection !== standard) onRejected(rejected);
      },
      clock,
    });
    const names = bySource.get(from) ?? new Map<string, FollowedFlags>();
    bySource.set(from, names.set(collection, followed));
    count++;
    return followed;
  };
  const use = (flags: FollowedFlags): (() => void) => {
    unused.remove(flags);
    flags.users++;
    return () => {
      if (--flags.users === 0) unused.add(flags);
    };
  };
  return {
    limits,
    get collections() {
      return count;
    },
    follow(signal) {
      isFollowed = true;
      const flags = follow(source, standard);
      const release = use(flags);
      const readEach = async (): Promise<void> => {
        let known: FlagDocument | undefined;
        while (!signal.aborted) known = await flags.next(known, longMs, signal);
        isFollowed = false;
        release();
      };
      void readEach();
    },
    async open(peer, { path, signal, selector = "" }) {
      const collection = selector === "" ? standard : collectionOf(selector, reader);
      const view = await viewOf(peer, { path, signal });
      const { revoked } = view;
      try {
        const flags = follow(view.source, collection);
        const end = use(flags);
        return {
          flags,
          revoked,
          signal: revoked === undefined ? signal : AbortSignal.any([signal, revoked]),
          release() {
            end();
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
