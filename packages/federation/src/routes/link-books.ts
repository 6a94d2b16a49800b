import type { Followers } from "../links/followers.ts";
import type { Redirects } from "../links/redirects.ts";
import type { Ask } from "./ask.ts";
import type { ForeignNames } from "./foreign-names.ts";
import type { Route } from "./route.ts";
import type { ServerLink } from "./server-link.ts";

/** What the sinks of all servers share. */
export interface LinkBooks {
  /** Whether redirects are followed. */
  readonly follow: boolean;
  readonly followers: Followers;
  readonly redirects: Redirects;
  /** The route of a name; undefined: none. */
  routeOfName(name: string): Route | undefined;
  /** Whether readers ask for a name as it is, or for a collection that it is in. */
  isCovered(route: Route, typeUrl: string, key: string, aliases?: readonly string[]): boolean;
  /** These are known but for members that lead elsewhere, of which nothing is known yet. */
  owe(asks: readonly Ask[], link: ServerLink): void;
  /** A server has given names that are none of its business (C-AUTH-7). */
  foreign(link: ServerLink, typeUrl: string, names: ForeignNames): void;
}
