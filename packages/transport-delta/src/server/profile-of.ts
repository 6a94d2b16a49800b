import type { FrameProfile, ServerContext } from "@xdstp/protocol/server";
import { createDeltaProfile } from "./delta-profile.ts";

/** The features that the clients of a profile support. */
export interface ClientForm {
  /** TTLs and heartbeats (S-TTL-1). */
  readonly ttl: boolean;
  /** `resource_errors`, as far as that is known (S-SIZE-4). */
  readonly errors: boolean;
}

/**
 * Returns the profile of a type for clients that support this; the same object for the same
 * arguments.
 */
export type ProfileOf = (typeUrl: string, form: ClientForm) => FrameProfile;

/**
 * The number of profiles that are kept for any type, since the type may be described only after its
 * first request.
 */
const ANY_TYPE = 256;

/**
 * Creates that function. Profiles are kept for types that are served, and for the first others, so
 * that clients cannot make their number grow.
 */
export function createProfileOf({ source, limits, controlPlane }: ServerContext): ProfileOf {
  const profiles = new Map<string, FrameProfile>();
  return (typeUrl, { ttl: takesTtl, errors }) => {
    // For a type in which a resource without a body means a missing name, a heartbeat would look
    // like one (B-TTL-10).
    const ttl = takesTtl && source.descriptor(typeUrl)?.missingAs !== "empty-resource";
    const key = `${String(ttl)} ${String(errors)} ${typeUrl}`;
    const held = profiles.get(key);
    if (held !== undefined) return held;
    const profile = createDeltaProfile({
      typeUrl,
      controlPlane,
      responseBytes: limits.responseBytes,
      ttl,
      errors,
    });
    if (profiles.size < ANY_TYPE || source.serves(typeUrl)) profiles.set(key, profile);
    return profile;
  };
}
