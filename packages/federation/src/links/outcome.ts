import type { Resource, XdsError } from "@xdstp/core";

/** One step from a name to what is delivered under it. */
export interface Hop {
  /** Why it was taken. */
  readonly kind: "redirect" | "alt" | "entry";
  /** What was asked for next, as a locator. */
  readonly to: string;
}

/** What a locator leads to. */
export type Outcome = (
  /** Not known yet. */
  | { readonly state: "pending" }
  /** `stale`: why it may be old. `version`: that of each under the name that was asked for. */
  | { readonly state: "held"; readonly resources: readonly LinkedResource[]; readonly stale?: XdsError | undefined }
  /** A server says that there is none (`missing`); nobody can be reached who could say (`unreachable`); the way is broken, whoever says what. */
  | { readonly state: "missing" | "unreachable" | "broken"; readonly error: XdsError }
) & { readonly hops: readonly Hop[] };

/** A resource with the version that it has under the name that was asked for. */
export interface LinkedResource {
  readonly resource: Resource;
  readonly version: string;
}
