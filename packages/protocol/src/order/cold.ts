import { authorityOf } from "@xdstp/uri";
import type { Entry, ResourceSource, ResourceType } from "@xdstp/core";
import type { TypeHost } from "../stream/type-machine.ts";
import { namesToWarm } from "./warm-children.ts";

/** Whether a resource that the client was sent exists only since this revision, and still waits for another on the same stream: one that is not there, or not accepted (S-WARM-1, S-ORD-2). */
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

/** Whether a name that the client has not asked for yet is to be asked for here: of another authority it gets it elsewhere. */
export function isServedBy(
  { authorities }: Pick<ResourceSource, "authorities">,
  name: string,
): boolean {
  const authority = authorityOf(name);
  return authority === undefined || authorities === undefined || authorities.includes(authority);
}
