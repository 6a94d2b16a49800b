import { XdsError, type Clock } from "@xdstp/core";
import { globMatches, isGlob } from "@xdstp/uri";

import { KeptResources } from "../links/kept.ts";
import type { KeyedInterest, ServerLink } from "./server-link.ts";

/** What is to be found out. */
export interface Asked extends KeyedInterest {
  /** null: of an opaque name. */
  readonly authority: string | null;
}

/** Follows an ask on the way to what it delivers. */
export interface AskFollower {
  /** The member of a glob that it delivers. The glob is subscribed, so the member need not be. */
  readonly member: { readonly ask: AskState } | undefined;
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

/** One interest of a type, those that follow it, and what is known of it. */
export interface AskState extends Asked {
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

export function createAsk(asked: Asked, clock: Clock): AskState {
  const {
    interest: { name },
  } = asked;
  const ask: AskState = {
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
export function expire(ask: AskState): void {
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
export function covers({ kind, key }: Pick<AskState, "kind" | "key">, name: string): boolean {
  return kind === "wildcard" || (kind === "glob" ? globMatches(key, name) : key === name);
}

/** Whether anybody has a use for it. */
export function isUsed({ direct, followers, sides }: AskState): boolean {
  return direct || followers.size + sides.size > 0;
}

/** Whether servers have to be asked for it. */
export function isWanted(ask: AskState): boolean {
  return (
    ask.direct ||
    ask.sides.size > 0 ||
    ask.followers.values().some(({ member }) => member?.ask !== ask)
  );
}

function kindOf(name: string): AskState["kind"] {
  if (name === "*") return "wildcard";
  return name.startsWith("xdstp:") && isGlob(name) ? "glob" : "name";
}

/** The error of a name that a server reports as missing without a reason. */
export function notFound(typeUrl: string, name: string): XdsError {
  return new XdsError("NOT_FOUND", `${JSON.stringify(name)} does not exist`, {
    typeUrl,
    resource: name,
    reason: "missing",
  });
}
