import type { Entry } from "@xdstp/core";
import type { Batch } from "./batch.ts";
import { restampFrame, type Frame } from "./frame.ts";
import type { NotSent } from "./not-sent.ts";

/** A response, ready to be sent. */
export interface Frames {
  /** In the order in which they are sent; more than one where a response is split (S-SIZE-2). */
  readonly list: readonly Frame[];
  /** `system_version_info` or `version_info`. Streams that share it share the version of the first of them. */
  readonly version: string;
  /** How many resources and removals are in it. */
  readonly resources: number;
  /** How many removals are in it. */
  readonly removed: number;
  /** What was left out. */
  readonly notSent: readonly NotSent[];
  /** The record of it that the streams share which were sent it last. undefined: it was not sent yet. */
  batch: Batch | undefined;
}

/** How often frames were encoded, shared and stamped again; for tests and status. */
export interface FrameCounters {
  /** Responses that were encoded. */
  encoded: number;
  /** Responses that were used again as they were. */
  shared: number;
  /** Responses that were used again with another nonce. */
  restamped: number;
}

/** Encoded responses by the identity of the array they were made of. */
export interface FrameCache {
  /** The frames of an array, with nonces above `lastNonce`, encoded at most once per array and profile. */
  get(profile: FrameProfile, entries: readonly Entry[], lastNonce: number, version: string): Frames;
  /** What was counted since the cache was made. */
  readonly counters: Readonly<FrameCounters>;
}

/** How entries become frames: variant, type, wrapping, chunk limit. One object per profile; its identity is part of the key. */
export interface FrameProfile {
  /** `version` is `system_version_info` or `version_info`. */
  encode(entries: readonly Entry[], version: string): Frames;
  /** What a client of this profile is sent for an entry, byte for byte; empty: nothing. Read only after a rejection (S-ACK-8). */
  said(entry: Entry): Uint8Array;
  /** The profile of heartbeats for what has this TTL, in milliseconds; the same object each time. Absent: TTLs are left out, so there are none (S-TTL-1). */
  heartbeat?(ttlMs: number): FrameProfile;
}

/** Frames live as long as the array they were made of. */
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

/** A stream may use shared frames if their nonces are above the last one it sent; else the frames stamped again replace the shared ones, so the next stream in the same state shares again. */
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
