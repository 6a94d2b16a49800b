import type { FrameProfile, ServerContext } from "@xdstp/protocol/server";
import { createDeltaProfile } from "./delta-profile.ts";

/** What the clients of a profile understand. */
export interface ClientForm {
  /** TTLs and heartbeats (S-TTL-1). */
  readonly ttl: boolean;
  /** `resource_errors`, as far as that is known (S-SIZE-4). */
  readonly errors: boolean;
}

/** The profile of a type for clients of a form; the same object for the same. */
export type ProfileOf = (typeUrl: string, form: ClientForm) => FrameProfile;

/** The number of profiles that are kept, of any type: the description of a type may come after its first request. */
const ANY_TYPE = 256;

/** Profiles are kept for types that are served, and for the first others: a client cannot make them grow. */
export function createProfileOf({ source, limits, controlPlane }: ServerContext): ProfileOf {
  const profiles = new Map<string, FrameProfile>();
  return (typeUrl, { ttl: takesTtl, errors }) => {
    // Where a resource without body means a missing name, a heartbeat would look like it (B-TTL-10).
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
