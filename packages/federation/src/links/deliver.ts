import { isLate, type Put, type Removal, type Resource, type XdsError } from "@xdstp/core";

import type { Follower } from "./follower.ts";
import { removalOf, variantId } from "./kept.ts";
import type { LinkedResource } from "./outcome.ts";

/** The changes for the readers of a name with redirects or directives. */
export interface Delivery {
  readonly put: readonly Put[];
  readonly remove: readonly Removal[];
  /** The error next to the cached resource. `null`: unchanged. */
  readonly ambient: XdsError | undefined | null;
}

const NOTHING: Delivery = { put: [], remove: [], ambient: null };

/** Returns the changes for readers after a new outcome. */
export function deliver(follower: Follower): Delivery {
  return follower.member === undefined
    ? deliverName(follower)
    : deliverMember(follower, follower.member.side.isInUse);
}

function deliverName(follower: Follower): Delivery {
  const { outcome, shows } = follower;
  switch (outcome.state) {
    case "pending":
      return NOTHING;
    case "held":
      return { ...changesOf(follower, outcome.resources), ambient: outcome.stale };
    // The result is the same as for a subscriber of the name itself (C-MISS-4).
    case "unreachable":
      if (follower.isGone)
        return {
          ...removal(follower, follower.source?.missing ?? outcome.error),
          ambient: outcome.error,
        };
      return isLate(outcome.error) && !shows
        ? removal(follower, outcome.error)
        : { ...NOTHING, ambient: outcome.error };
    // A collection that has this name as a member gets the error too (C-REDIR-4).
    case "broken":
      return { ...(shows ? NOTHING : removal(follower, outcome.error)), ambient: outcome.error };
    case "missing":
      return removal(follower, outcome.error);
  }
}

/**
 * A name without a resource is not a member. A resource that another side has delivered does not
 * stay in its place (C-ALT-7).
 */
function deliverMember(follower: Follower, isInUse: boolean): Delivery {
  const { outcome, shows, hasTakenOver } = follower;
  if (!isInUse) return { ...NOTHING, remove: variantsOf(follower), ambient: undefined };
  switch (outcome.state) {
    case "pending":
      return NOTHING;
    case "held":
      return { ...changesOf(follower, outcome.resources), ambient: outcome.stale };
    case "unreachable":
    case "broken":
      return {
        ...NOTHING,
        remove: hasTakenOver || follower.isGone ? variantsOf(follower) : [],
        ambient: outcome.error,
      };
    case "missing":
      return shows ? removal(follower, outcome.error) : { ...NOTHING, ambient: undefined };
  }
}

/**
 * Records a delivery as accepted, except for a rejection by a reader: then the previous state
 * stays.
 * @param error - The reason why a reader rejected it
 */
export function noteDelivered(
  follower: Follower,
  { put, remove }: Delivery,
  error: XdsError | undefined,
): void {
  const { delivered, rejected } = follower;
  if (remove.length > 0 || (put.length > 0 && error === undefined))
    follower.stands = follower.hasTakenOver = false;
  for (const removed of remove) delivered.delete(variantId(removed));
  if (put.length > 0 && error === undefined && follower.outcome.state === "held")
    follower.source = follower.outcome.ask;
  if (delivered.size === 0 && put.length === 0) follower.source = undefined;
  for (const { resource } of put) {
    const id = variantId(resource);
    if (error !== undefined) {
      rejected.set(id, { version: resource.version, error });
    } else {
      rejected.delete(id);
      delivered.set(id, { resource, version: resource.version });
    }
  }
}

/**
 * Records the version of an unreadable resource. Returns true if it differs from the previous one.
 */
export function noteUnreadable(follower: Follower): boolean {
  const { outcome, unreadable } = follower;
  if (outcome.state !== "broken" || outcome.blame === undefined) return false;
  follower.unreadable = outcome.blame.version;
  return follower.unreadable !== unreadable;
}

/**
 * Returns the reason why a reader has rejected the resource that the name leads to now, in this
 * delivery or an earlier one.
 */
export function standingRejection({ outcome, rejected, member }: Follower): XdsError | undefined {
  if (outcome.state !== "held" || member?.side.isInUse === false) return undefined;
  for (const { resource, version } of outcome.resources) {
    const known = rejected.get(variantId(resource));
    if (known?.version === version) return known.error;
  }
  return undefined;
}

function changesOf(
  { typeUrl, interest: { name }, delivered, rejected }: Follower,
  resources: readonly LinkedResource[],
): Pick<Delivery, "put" | "remove"> {
  const now = new Map(resources.map((linked) => [variantId(linked.resource), linked]));
  const fresh = [...now].filter(
    ([id, linked]) =>
      !isSame(delivered.get(id), linked) && rejected.get(id)?.version !== linked.version,
  );
  const gone = [...delivered].filter(([id]) => !now.has(id));
  return {
    put: fresh.map(([, { resource, version }]) => ({
      typeUrl,
      as: name,
      resource: asLinked(resource, version),
    })),
    remove: gone.map(([, { resource }]) => removalOf(typeUrl, name, resource.constraints)),
  };
}

/** Without the expiry: the resources on the way know when they expire (C-TTL-4). */
function asLinked(given: Resource, version: string): Resource {
  const resource: { -readonly [Key in keyof Resource]: Resource[Key] } = {
    ...given,
    version,
    aliases: [],
  };
  delete resource.expireMs;
  return resource;
}

/** The same version may arrive with other bytes (B-VER-5), or with another TTL. */
function isSame(one: LinkedResource | undefined, other: LinkedResource): boolean {
  return (
    one?.version === other.version &&
    one.resource.payload === other.resource.payload &&
    one.resource.ttlMs === other.resource.ttlMs
  );
}

function removal(follower: Follower, error: XdsError): Delivery {
  const {
    typeUrl,
    interest: { name },
  } = follower;
  const variants = variantsOf(follower).filter(({ constraints }) => constraints !== undefined);
  return {
    put: [],
    remove:
      variants.length > 0
        ? variants.map((variant) => ({ ...variant, error }))
        : [{ typeUrl, name, error }],
    ambient: undefined,
  };
}

function variantsOf({ typeUrl, interest: { name }, delivered }: Follower): readonly Removal[] {
  return Array.from(delivered.values(), ({ resource: { constraints } }) =>
    removalOf(typeUrl, name, constraints),
  );
}
