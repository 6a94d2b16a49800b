import type { HttpLimits } from "./http-limits.ts";
import type { NameState } from "./followed-names.ts";

/** The kind of an answer, which decides how long a cache may use it. */
export type AnswerKind =
  /** The present state, at once. */
  | "present"
  /** The state after a position in the history of a name. Its URL never means anything else. */
  | "change"
  /**
   * A change that was read from no position, or from one in the history of another replica, which
   * may be ahead of this one. A cache may not use it for longer while the server is away: two such
   * answers can lead clients in a circle.
   */
  | "brief"
  /**
   * A long poll without a change. It can be stored, since a cache that could not store it would pass
   * on the next polls of all clients.
   */
  | "unchanged";

/**
 * Returns the header `cache-control` of an answer.
 * @param isPrivate - true if the answer depends on the caller
 */
export function cacheControlOf(
  state: NameState,
  kind: AnswerKind,
  isPrivate: boolean,
  limits: HttpLimits,
): string {
  if (state.kind === "found" && state.resource.noStore === true) return "no-store";
  const ttlMs = state.kind === "found" ? state.resource.ttlMs : undefined;
  const maxAgeMs = Math.min(maxAgeOf(kind, limits), refreshMsOf(ttlMs));
  const staleMs = Math.min(limits.staleIfErrorMs, (ttlMs ?? Infinity) - maxAgeMs);
  const parts = [isPrivate ? "private" : "public", `max-age=${seconds(maxAgeMs)}`];
  if (state.kind === "found" && kind !== "brief") parts.push(`stale-if-error=${seconds(staleMs)}`);
  return parts.join(", ");
}

/**
 * Returns the longest time between two answers about a resource with a TTL: a third of it, so that
 * one answer that is lost does not remove the resource.
 */
export function refreshMsOf(ttlMs: number | undefined): number {
  return ttlMs === undefined ? Infinity : ttlMs / 3;
}

function maxAgeOf(kind: AnswerKind, { maxAgeMs, changeMaxAgeMs }: HttpLimits): number {
  switch (kind) {
    case "present":
      return maxAgeMs;
    case "change":
      return changeMaxAgeMs;
    case "brief":
    case "unchanged":
      return 1_000;
  }
}

function seconds(ms: number): string {
  return String(Math.max(0, Math.floor(ms / 1_000)));
}
