import { authorityOf } from "@xdstp/uri";
import type { Entry, ResourceSource, ResourceType } from "@xdstp/core";
import { referencesOf } from "./references-of.ts";
import type { TypeHost } from "../stream/type-machine.ts";
import { namesToWarm } from "./warm-children.ts";

/**
 * Whether one of these entries names what is new to the client since a revision and has not got what it waits for, like a cluster without its assignment (S-ORD-2).
 * A client that has accepted nothing of the type yet is not kept waiting: what it does without it nobody knows.
 */
export function namesCold(
  type: ResourceType | undefined,
  host: Pick<TypeHost, "sibling">,
  entries: readonly Entry[],
  accepted: number,
): boolean {
  const { references, follows = [] } = type ?? {};
  const gates = new Set(
    follows.filter(({ when }) => when === "accepted").map(({ typeUrl }) => typeUrl),
  );
  if (type === undefined || references === undefined || gates.size === 0 || accepted === 0)
    return false;
  const isCold = ({
    typeUrl,
    name,
  }: {
    readonly typeUrl: string;
    readonly name: string;
  }): boolean => gates.has(typeUrl) && host.sibling(typeUrl)?.isCold(name, accepted) === true;
  return entries.some(
    ({ resource }) => resource !== undefined && referencesOf(type, resource).some(isCold),
  );
}

/** Whether a resource that the client was sent exists only since this revision, and still waits for another on the same stream (S-WARM-1). */
export function isColdSince(
  type: ResourceType | undefined,
  host: Pick<TypeHost, "sibling">,
  { resource, since }: Entry,
  revision: number,
): boolean {
  if (resource === undefined || since <= revision) return false;
  return (
    type?.warms?.some((warms) =>
      namesToWarm(warms, resource).some(
        (name) => host.sibling(warms.typeUrl)?.misses(name) === true,
      ),
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
