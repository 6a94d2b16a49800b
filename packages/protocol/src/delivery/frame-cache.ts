import type { Entry } from "@xdstp/core";
import type { Batch } from "./batch.ts";
import { restampFrame, type Frame } from "./frame.ts";
import type { NotSent } from "./not-sent.ts";

/** An encoded response, ready to be sent. */
export interface Frames {
  /** Its frames in the order of sending; more than one if the response is split (S-SIZE-2). */
  readonly list: readonly Frame[];
  /**
   * `system_version_info` or `version_info`. Streams that share the frames share the version of the
   * first of them.
   */
  readonly version: string;
  /** The number of resources in it. */
  readonly resources: number;
  /** The number of removals in it. */
  readonly removed: number;
  /** The resources that were left out. */
  readonly notSent: readonly NotSent[];
  /**
   * The batch of the last sending, shared by the streams that were sent these frames from the same
   * state. undefined: they were not sent yet.
   */
  batch: Batch | undefined;
}

/** The number of times that frames were encoded, shared and restamped; for tests and status. */
export interface FrameCounters {
  /** Responses that were encoded. */
  encoded: number;
  /** Responses that were used again unchanged. */
  shared: number;
  /** Responses that were used again with a new nonce. */
  restamped: number;
}

/** Encoded responses by the identity of the array that they were made from. */
export interface FrameCache {
  /**
   * Returns the frames of an array, with nonces greater than `lastNonce`. An array is encoded at
   * most once per profile.
   */
  get(profile: FrameProfile, entries: readonly Entry[], lastNonce: number, version: string): Frames;
  /** Counts since the cache was created. */
  readonly counters: Readonly<FrameCounters>;
}

/**
 * The way in which entries become frames: variant, type, wrapping, size limit. One object per
 * profile, since its identity is part of the cache key.
 */
export interface FrameProfile {
  /** Encodes entries. `version` is `system_version_info` or `version_info`. */
  encode(entries: readonly Entry[], version: string): Frames;
  /**
   * Returns the bytes that a client of this profile is sent for an entry; empty: none. Called only
   * after a rejection (S-ACK-8).
   */
  said(entry: Entry): Uint8Array;
  /**
   * Returns the profile of heartbeats for resources with this TTL in milliseconds; the same object
   * each time. Absent: TTLs are not sent, so there are no heartbeats (S-TTL-1).
   */
  heartbeat?(ttlMs: number): FrameProfile;
}

/** Creates a cache in which frames live as long as the array that they were made from. */
export function createFrameCache(): FrameCache {
  const counters: FrameCounters = { encoded: 0, shared: 0, restamped: 0 };
  const byProfile = new WeakMap<FrameProfile, WeakMap<readonly Entry[], Frames>>();
  return {
    counters,
    get(profile, entries, lastNonce, version) {
      const byArray = tableOf(byProfile, profile);
      const held = byArray.get(entries);
      const frames =
        usable(held, lastNonce, counters) ?? encodeCounted(profile, entries, version, counters);
      if (frames !== held) byArray.set(entries, frames);
      return frames;
    },
  };
}

/**
 * Returns shared frames that a stream may use. If their nonces are greater than the last one that
 * the stream sent, they are used unchanged. Otherwise they are stamped with new nonces and replace
 * the shared ones, so the next stream in the same state can share them.
 */
function usable(
  held: Frames | undefined,
  lastNonce: number,
  counters: FrameCounters,
): Frames | undefined {
  if (held === undefined) return undefined;
  const first = held.list[0];
  if (first === undefined || first.nonce > lastNonce) {
    counters.shared++;
    return held;
  }
  counters.restamped++;
  return { ...held, list: held.list.map(restampFrame), batch: undefined };
}

function encodeCounted(
  profile: FrameProfile,
  entries: readonly Entry[],
  version: string,
  counters: FrameCounters,
): Frames {
  counters.encoded++;
  return profile.encode(entries, version);
}

function tableOf(
  byProfile: WeakMap<FrameProfile, WeakMap<readonly Entry[], Frames>>,
  profile: FrameProfile,
): WeakMap<readonly Entry[], Frames> {
  let table = byProfile.get(profile);
  if (table === undefined) byProfile.set(profile, (table = new WeakMap()));
  return table;
}
