import { authorityOf } from "@xdstp/uri";
import type { Entry, ResourceSource, ResourceType } from "@xdstp/core";
import type { TypeHost } from "../stream/type-machine.ts";
import { namesToWarm } from "./warm-children.ts";

/**
 * Returns true if a resource that the client was sent has come into existence after this revision,
 * and still waits for another resource on the same stream that does not exist or is not accepted
 * (S-WARM-1, S-ORD-2).
 */
export function isColdSince(
  type: ResourceType | undefined,
  host: Pick<TypeHost, "sibling">,
  { resource, since }: Entry,
  revision: number,
): boolean {
  if (resource === undefined || since <= revision) return false;
  return (
    type?.warms?.some((warms) =>
      namesToWarm(warms, resource).some((name) => {
        const child = host.sibling(warms.typeUrl);
        return child !== undefined && (child.misses(name) || child.awaits(name));
      }),
    ) === true
  );
}

/**
 * Returns true if a name that the client has not subscribed to yet can be subscribed from this
 * source. A name of another authority is served elsewhere.
 */
export function isServedBy(
  { authorities }: Pick<ResourceSource, "authorities">,
  name: string,
): boolean {
  const authority = authorityOf(name);
  return authority === undefined || authorities === undefined || authorities.includes(authority);
}
