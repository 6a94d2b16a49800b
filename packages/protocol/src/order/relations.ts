import type { ResourceSource } from "@xdstp/core";

/** The relations of one type of a stream to the others there, as indices into their list. */
export interface Relation {
  /** The types that have to be accepted before this one is sent (S-ORD-2). */
  readonly waitsFor: readonly number[];
  /**
   * The types that refer to this one: a removal waits until none of their resources refers to it
   * (S-ORD-3).
   */
  readonly referrers: readonly number[];
  /**
   * True if the references of its resources are known: each resource waits for the names that it
   * refers to, and for nothing else (S-ORD-4).
   */
  readonly byName: boolean;
  /**
   * True if it is taken together with other types when one of them has to wait, since the
   * references of a type are not known (S-ORD-4).
   */
  readonly cut: boolean;
}

const known = new WeakMap<Pick<ResourceSource, "descriptor">, Map<string, readonly Relation[]>>();

/**
 * Returns the relations between these types; types without relations never wait (S-ORD-5). The
 * array is the same for the same types of a source, since streams have few different sets of types.
 */
export function relationsOf(
  source: Pick<ResourceSource, "descriptor">,
  typeUrls: readonly string[],
): readonly Relation[] {
  const bySet = known.get(source) ?? new Map<string, readonly Relation[]>();
  known.set(source, bySet);
  const key = typeUrls.join("\n");
  const relations = bySet.get(key) ?? relate(source, typeUrls);
  if (bySet.size < MANY) bySet.set(key, relations);
  return relations;
}

/**
 * The greatest number of sets that are kept, since a client may request types in any combination.
 */
const MANY = 1_000;

function relate(
  source: Pick<ResourceSource, "descriptor">,
  typeUrls: readonly string[],
): readonly Relation[] {
  const waits = typeUrls.map((typeUrl) => waitsForOf(source, typeUrls, typeUrl));
  const isNamed = typeUrls.map((typeUrl) => source.descriptor(typeUrl)?.references !== undefined);
  return typeUrls.map((typeUrl, index) => {
    const waitsFor = waits[index] ?? [];
    const follows = waitsFor.length > 0;
    const byName = follows && isNamed[index] === true;
    const followed = waits.some((others, other) => others.includes(index) && !isNamed[other]);
    return {
      waitsFor,
      referrers: referrersOf(source, typeUrls, typeUrl),
      byName,
      cut: (follows && !byName) || (followed && !isWarmed(source, typeUrls, typeUrl)),
    };
  });
}

/**
 * Returns the types that a type waits for. Types that follow each other in a ring have the same
 * rank, and do not wait for each other.
 */
function waitsForOf(
  source: Pick<ResourceSource, "descriptor">,
  typeUrls: readonly string[],
  typeUrl: string,
): readonly number[] {
  const rank = rankOf(source, typeUrl);
  const accepted = (source.descriptor(typeUrl)?.follows ?? []).filter(
    ({ when }) => when === "accepted",
  );
  return accepted
    .map((other) => typeUrls.indexOf(other.typeUrl))
    .filter((index) => index >= 0 && rankOf(source, typeUrls[index] ?? "") < rank);
}

function referrersOf(
  source: Pick<ResourceSource, "descriptor">,
  typeUrls: readonly string[],
  typeUrl: string,
): readonly number[] {
  const referrers = source.descriptor(typeUrl)?.refersTo ?? [];
  return referrers
    .filter((other) => other !== typeUrl)
    .map((other) => typeUrls.indexOf(other))
    .filter((index) => index >= 0);
}

/**
 * Returns true if a parent type warms this one. The answer of the parent may then wait for this
 * type, so it waits for no type (S-ORD-2).
 */
function isWarmed(
  source: Pick<ResourceSource, "descriptor">,
  typeUrls: readonly string[],
  typeUrl: string,
): boolean {
  return typeUrls.some((parent) =>
    source.descriptor(parent)?.warms?.some((child) => child.typeUrl === typeUrl),
  );
}

/**
 * Returns the rank of a type in the order of sending (S-ORD-1): greater than that of every type
 * that it follows. Types without relations have rank 0.
 */
export function rankOf(
  source: Pick<ResourceSource, "descriptor">,
  typeUrl: string,
  seen: readonly string[] = [],
): number {
  const follows = source.descriptor(typeUrl)?.follows ?? [];
  if (follows.length === 0 || seen.includes(typeUrl)) return 0;
  const path = [...seen, typeUrl];
  let rank = 0;
  for (const { typeUrl: other } of follows) rank = Math.max(rank, 1 + rankOf(source, other, path));
  return rank;
}
