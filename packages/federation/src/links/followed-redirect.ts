import type { Timer } from "@xdstp/core";
import type { XdstpLocator } from "@xdstp/uri";

import type { Route } from "../routes/route.ts";
import type { ServerLink } from "../routes/server-link.ts";
import type { Follower } from "./follower.ts";

/** A name that leads elsewhere, as one of its servers says. */
export interface FollowedRedirect {
  readonly typeUrl: string;
  /** As it came. */
  readonly name: string;
  readonly key: string;
  readonly target: XdstpLocator;
  /** Of the redirect itself (S-REDIR-7). */
  readonly version: string;
  readonly link: ServerLink;
  /** Which of the variants of its name it is (TP2). Absent: it has no constraints. */
  readonly constraints?: Uint8Array;
  /** Where it stands, whatever it leads to. */
  readonly place: { readonly route: Route; readonly key: string };
  /** Who follows it for those that ask for its name, or for a collection that it is a member of. Absent: it is a step of others only. */
  follower?: Follower | undefined;
  /** When it ends (C-TTL-4). */
  expiry?: Timer | undefined;
}
