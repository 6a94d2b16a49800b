import { XdsError, type Clock, type Interest } from "@xdstp/core";
import { globMatches, isGlob } from "@xdstp/uri";

import type { Follower } from "../links/follower.ts";
import { KeptResources } from "../links/kept.ts";
import type { Route } from "./route.ts";
import type { ServerLink } from "./server-link.ts";

/** What a route asks its servers for: one interest of a type, and what is known of it. */
export interface Ask {
  readonly route: Route;
  readonly typeUrl: string;
  readonly interest: Interest;
  /** Of its name; equal for equal names (N-40). */
  readonly key: string;
  readonly kind: "name" | "glob" | "wildcard";
  /** Readers ask for it by this very name: what comes of it is handed on as it is. */
  direct: boolean;
  /** Those to whom it is a step on the way, or the end of it. */
  readonly followers: Set<Follower>;
  /** Something has come of it, or it is known not to exist (C-GRPC-6). */
  answered: boolean;
  /** What has come of it, while it has followers. */
  readonly kept: KeptResources;
  /** Of a name: it does not exist, and why. */
  missing: XdsError | undefined;
  /** Why it cannot be had for now, as one of the servers says. */
  unavailable: { readonly link: ServerLink; readonly error: XdsError } | undefined;
}

export function createAsk(route: Route, typeUrl: string, interest: Interest, key: string, clock: Clock, onExpired: (ask: Ask) => void): Ask {
  const ask: Ask = {
    route, typeUrl, interest, key, kind: kindOf(interest.name), direct: false, followers: new Set(), answered: false,
    kept: new KeptResources(clock, () => {
      ask.missing = new XdsError("NOT_FOUND", `${JSON.stringify(interest.name)} has not been refreshed within its TTL (C-TTL-4)`, { typeUrl, resource: interest.name });
      onExpired(ask);
    }), missing: undefined, unavailable: undefined,
  };
  return ask;
}

/** Whether what is asked for has in it, or is, a name. */
export function covers({ kind, key }: Pick<Ask, "kind" | "key">, name: string): boolean {
  return kind === "wildcard" || (kind === "glob" ? globMatches(key, name) : key === name);
}

function kindOf(name: string): Ask["kind"] {
  if (name === "*") return "wildcard";
  return name.startsWith("xdstp:") && isGlob(name) ? "glob" : "name";
}
