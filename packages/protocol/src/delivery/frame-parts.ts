import { lengthDelimited } from "@xdstp/core/wire";
import type { FrameProfile } from "./frame-cache.ts";

/** Encoded fields that belong together. */
export type Fields = readonly Uint8Array[];

/** Returns the total length of fields in bytes. */
export function sizeOf(fields: Fields): number {
  return fields.reduce((sum, field) => sum + field.length, 0);
}

/**
 * Splits groups of fields into parts of at most `room` bytes (S-SIZE-2). A group is not split.
 * Without groups there is one empty part.
 */
export function splitFields(groups: readonly Fields[], room: number): readonly Fields[] {
  const parts: Uint8Array[][] = [[]];
  let used = 0;
  for (const fields of groups) {
    const size = sizeOf(fields);
    if (used > 0 && used + size > room) {
      parts.push([]);
      used = 0;
    }
    parts.at(-1)?.push(...fields);
    used += size;
  }
  return parts;
}

/** The field number of `ControlPlane.identifier`. */
const IDENTIFIER = 1;

/** Encodes the `control_plane` of a response. Without an identifier there is no field. */
export function controlPlaneFields(field: number, identifier: string): Fields {
  return identifier === "" ? [] : [lengthDelimited(field, lengthDelimited(IDENTIFIER, identifier))];
}

/** Adds heartbeats to a profile: `make` creates the profile of a TTL, once per TTL (S-TTL-2). */
export function withHeartbeats(
  profile: FrameProfile,
  make: (ttlMs: number) => FrameProfile,
): FrameProfile {
  const profiles = new Map<number, FrameProfile>();
  return {
    ...profile,
    heartbeat(ttlMs) {
      const known = profiles.get(ttlMs) ?? make(ttlMs);
      profiles.set(ttlMs, known);
      return known;
    },
  };
}
