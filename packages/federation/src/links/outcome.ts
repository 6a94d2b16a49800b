import type { Resource, XdsError } from "@xdstp/core";

import type { Ask } from "../routes/ask.ts";

/** One step from a name to what is delivered under it. */
export interface Hop {
  /** Why it was taken. */
  readonly kind: "redirect" | "alt" | "entry";
  /** The next name, as a locator. */
  readonly to: string;
}

/** What a locator leads to. */
export type Outcome =
  /** Not known yet. */
  (
    | { readonly state: "pending" }
    /** `stale`: why it may be old. `isLost`: no server that could answer is reachable. `ask`: where it was found. */
    | {
        readonly state: "held";
        readonly resources: readonly LinkedResource[];
        readonly stale?: XdsError | undefined;
        readonly isLost: boolean;
        readonly ask: Ask;
      }
    /** A server says that there is none. */
    | { readonly state: "missing"; readonly error: XdsError }
    /** It cannot be fetched. `isLost`: no server that could answer is reachable; else what came was rejected. `isSilence`: its server has not sent it in time. */
    | {
        readonly state: "unreachable";
        readonly error: XdsError;
        readonly isLost: boolean;
        readonly isSilence?: boolean;
      }
    /** The way is broken. `blame`: by what one server has given there; absent: none of them could know. */
    | { readonly state: "broken"; readonly error: XdsError; readonly blame?: Ask }
  ) & { readonly hops: readonly Hop[] };

/** A resource with the version that it has under the requested name. */
export interface LinkedResource {
  readonly resource: Resource;
  readonly version: string;
}
