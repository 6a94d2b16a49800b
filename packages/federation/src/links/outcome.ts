import { createHash } from "node:crypto";
import { isLate, type Resource, type XdsError } from "@xdstp/core";

import type { Ask } from "../routes/route.ts";

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
    | { readonly state: "broken"; readonly error: XdsError; readonly blame?: Blame }
  ) & { readonly hops: readonly Hop[] };

/** What a server has given that cannot be read. */
export interface Blame {
  readonly ask: Ask;
  readonly version: string;
}

/** A resource with the version that it has under the requested name. */
export interface LinkedResource {
  readonly resource: Resource;
  readonly version: string;
}

/** What has been followed on the way to a resource: the name, and the version of what was there. */
export interface Step {
  readonly name: string;
  readonly version: string;
}

/**
 * The version of what is answered under another name than its own: over the chain of names and versions and its own version, so that a redirect that moves to a resource of equal version is seen (S-VER-4).
 * A resource without a version has its content in its place.
 */
export function linkVersion(
  steps: readonly Step[],
  name: string,
  { version, payload }: Resource,
): string {
  const content =
    version === ""
      ? digest([payload.typeUrl, Buffer.from(payload.value).toString("base64")])
      : version;
  return digest([...steps.map((step) => [step.name, step.version]), [name, content]]);
}

function digest(content: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("base64url").slice(0, 22);
}

/** Milliseconds that a choice stands at least, without jitter (C-ALT-4). */
const HOLD_MS = 5_000;

/** Whether an alternative is in use, and until when that stands. */
export class Choice {
  onAlt = false;
  #heldUntil = 0;

  /**
   * Returns when it has to be decided again though nothing has changed.
   * @param wanted - what the primary calls for; undefined: nothing new
   * @param shows - something is delivered by the choice that stands, so that there is no hurry
   */
  decide(wanted: boolean | undefined, shows: boolean, now: number, random: () => number): number {
    if (wanted === undefined || wanted === this.onAlt) return Infinity;
    if (shows && now < this.#heldUntil) return this.#heldUntil;
    this.onAlt = wanted;
    this.#heldUntil = now + HOLD_MS * (1 + random() / 5);
    return Infinity;
  }
}

/** A server has answered: that there is none, that it may not be seen, or with something that was rejected. */
const ANSWERS: ReadonlySet<string> = new Set([
  "NOT_FOUND",
  "PERMISSION_DENIED",
  "INVALID_ARGUMENT",
]);

/** Whether an error of a name, or of a glob, says that no server that could answer is reachable (C-ALT-2). */
export function isOutOfReach(error: XdsError): boolean {
  return isLate(error) || !ANSWERS.has(error.code);
}
