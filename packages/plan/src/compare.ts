import { readConstraints, type Resource, textOfConstraints } from "@xdstp/core";

import type { PlannedResource } from "./plan.ts";

/** One resource before and after; at least one of both is there. */
export interface Pair {
  readonly before?: PlannedResource;
  readonly after?: PlannedResource;
  /** The constraints of a variant, for people. */
  readonly variant?: string | undefined;
}

/** The differences between two states, by type and name. */
export interface Comparison {
  readonly pairs: readonly Pair[];
  /** Resources that are equal on both sides, as they are afterwards. */
  readonly unchanged: readonly PlannedResource[];
}

/** Compares by version and by what is not part of it: the TTL and the cache control. */
export function compare(
  before: readonly PlannedResource[],
  after: readonly PlannedResource[],
): Comparison {
  const old = new Map(before.map((one) => [keyOf(one), one]));
  const pairs: Pair[] = [];
  const unchanged: PlannedResource[] = [];
  for (const one of after) {
    const key = keyOf(one);
    const other = old.get(key);
    old.delete(key);
    if (other !== undefined && isSame(other.resource, one.resource)) unchanged.push(one);
    else
      pairs.push({
        ...(other !== undefined && { before: other }),
        after: one,
        variant: variantOf(one.resource),
      });
  }
  for (const one of old.values()) pairs.push({ before: one, variant: variantOf(one.resource) });
  return { pairs: pairs.sort(byTypeAndName), unchanged };
}

/** A map key: type, name, view and variant. */
export function keyOf({ typeUrl, resource, view }: PlannedResource): string {
  return JSON.stringify([typeUrl, resource.name, view ?? null, variantOf(resource) ?? null]);
}

function isSame(one: Resource, other: Resource): boolean {
  return (
    one.version === other.version &&
    one.ttlMs === other.ttlMs &&
    (one.noStore ?? false) === (other.noStore ?? false)
  );
}

function variantOf({ constraints }: Resource): string | undefined {
  if (constraints === undefined || constraints.length === 0) return undefined;
  const read = readConstraints(constraints);
  return read.fault === undefined ? textOfConstraints(read.constraints) : undefined;
}

function byTypeAndName(one: Pair, other: Pair): number {
  const [first, second] = [sortKey(one), sortKey(other)];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

function sortKey({ before, after, variant = "" }: Pair): string {
  const { typeUrl = "", resource, view = "" } = after ?? before ?? {};
  return [typeUrl, resource?.name ?? "", view, variant].join("\u0000");
}
