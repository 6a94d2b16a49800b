import type { ResourceSource } from "@xdstp/core";

/** The place of a type in the order of sending (S-ORD-1): above every type that it follows. Types without relation rank 0. */
export function rankOf(
  source: Pick<ResourceSource, "descriptor">,
  typeUrl: string,
  seen: readonly string[] = [],
): number {
  if (seen.includes(typeUrl)) return 0;
  const follows = source.descriptor(typeUrl)?.follows ?? [];
  return follows.reduce(
    (rank, { typeUrl: other }) => Math.max(rank, 1 + rankOf(source, other, [...seen, typeUrl])),
    0,
  );
}
