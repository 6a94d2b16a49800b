import type { Committed } from "./feed.ts";

/**
 * Calls `next` with what became of a transaction: at once, or when its votes are in ({@link Committed.decided}).
 *
 * @returns What `next` returns; while the votes are not in, the same commit, which is decided as `next` returns then
 */
export function whenDecided(
  committed: Committed,
  next: (decided: Committed) => Committed,
): Committed {
  const { decided } = committed;
  return decided === undefined ? next(committed) : { ...committed, decided: decided.then(next) };
}
