import { XdsError, type Clock, type Interest } from "@xdstp/core";
import { globMatches, isGlob } from "@xdstp/uri";

import { KeptResources } from "../links/kept.ts";
import type { Route } from "./route.ts";
import type { ServerLink } from "./server-link.ts";

/** What is to be found out, and from whom. */
export interface Asked {
  readonly route: Route;
  readonly typeUrl: string;
  readonly interest: Interest;
  /** Of its name; equal for equal names (N-40). */
  readonly key: string;
  /** null: of an opaque name. */
  readonly authority: string | null;
}

/** Follows an ask on the way to what it delivers. */
export interface AskFollower {
  /** The member of a glob that it delivers. The glob is subscribed, so the member need not be. */
  readonly member: { readonly ask: Ask } | undefined;
  /** Something that it follows has changed. */
  touch(): void;
}

/** Gathers the members of a glob under other names (C-ALT-7). */
export interface AskSide {
  /** The glob has a member of this name. */
  add(name: string, key: string): void;
  /** Something of the glob has changed. */
  touch(): void;
}

/** One interest of a type in what a route has, and what is known of it. */
export interface Ask extends Asked {
  readonly kind: "name" | "glob" | "wildcard";
  /** Readers ask for it by this very name: what comes of it is handed on as it is. */
  direct: boolean;
  /** Those to whom it is a step on the way, or the end of it. */
  readonly followers: Set<AskFollower>;
  /** Of a glob: those that gather its members under other names (C-ALT-7). */
  readonly sides: Set<AskSide>;
  /** It is subscribed at servers; not so a member of a glob that is gathered. */
  wanted: boolean;
  /** A collection: all of it is known. */
  settled: boolean;
  /** What has come of it, while it has followers. */
  readonly kept: KeptResources<ServerLink>;
  /** Of a name: it does not exist, and why. */
  missing: XdsError | undefined;
  /** It is missing since its time is over: no server has said so. */
  expired: boolean;
  /** Why it cannot be had for now, as one of the servers says. */
  unavailable: { readonly link: ServerLink; readonly error: XdsError } | undefined;
}

export function createAsk(asked: Asked, clock: Clock): Ask {
  const {
    interest: { name },
  } = asked;
  const ask: Ask = {
    ...asked,
    kind: kindOf(name),
    direct: false,
    followers: new Set(),
    sides: new Set(),
    wanted: false,
    settled: false,
    kept: new KeptResources(clock, () => {
      expire(ask);
      for (const follower of ask.followers) follower.touch();
    }),
    missing: undefined,
    expired: false,
    unavailable: undefined,
  };
  return ask;
}

/** The time of something of it is over: where that was all, it is as if it had been removed (C-TTL-4). */
export function expire(ask: Ask): void {
  const {
    typeUrl,
    interest: { name },
  } = ask;
  ask.expired = ask.kept.size === 0;
  if (ask.expired)
    ask.missing = new XdsError(
      "NOT_FOUND",
      `${JSON.stringify(name)} has not been refreshed within its TTL`,
      { typeUrl, resource: name, rule: "C-TTL-4" },
    );
}

/** Whether the subscription contains, or is, a name. */
export function covers({ kind, key }: Pick<Ask, "kind" | "key">, name: string): boolean {
  return kind === "wildcard" || (kind === "glob" ? globMatches(key, name) : key === name);
}

/** Whether anybody has a use for it. */
export function isUsed({ direct, followers, sides }: Ask): boolean {
  return direct || followers.size + sides.size > 0;
}

/** Whether servers have to be asked for it. */
export function isWanted(ask: Ask): boolean {
  return (
    ask.direct ||
    ask.sides.size > 0 ||
    ask.followers.values().some(({ member }) => member?.ask !== ask)
  );
}

function kindOf(name: string): Ask["kind"] {
  if (name === "*") return "wildcard";
  return name.startsWith("xdstp:") && isGlob(name) ? "glob" : "name";
}
