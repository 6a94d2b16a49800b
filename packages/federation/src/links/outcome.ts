import { createHash } from "node:crypto";
import { isLate, type Resource, type XdsError } from "@xdstp/core";

import type { Ask } from "../routes/route.ts";

/** One step from a requested name to the delivered resource. */
export interface Hop {
  /** The reason for the step. */
  readonly kind: "redirect" | "alt" | "entry";
  /** The next name, as a locator. */
  readonly to: string;
}

/** The result of following a locator. */
export type Outcome =
  /** The result is not known yet. */
  (
    | { readonly state: "pending" }
    /**
     * A resource was found. `stale`: the reason why it may be out of date. `isLost`: no server that
     * could answer is reachable. `ask`: the subscription that found it.
     */
    | {
        readonly state: "held";
        readonly resources: readonly LinkedResource[];
        readonly stale?: XdsError | undefined;
        readonly isLost: boolean;
        readonly ask: Ask;
      }
    /** A server reports that the resource does not exist. */
    | { readonly state: "missing"; readonly error: XdsError }
    /**
     * The resource cannot be fetched. `isLost`: no server that could answer is reachable; if false,
     * the received resource was rejected. `isSilence`: the server has not sent it in time.
     */
    | {
        readonly state: "unreachable";
        readonly error: XdsError;
        readonly isLost: boolean;
        readonly isSilence?: boolean;
      }
    /**
     * The way is broken. `blame`: the unreadable content of one server that broke it. Absent: none
     * of the servers could know.
     */
    | { readonly state: "broken"; readonly error: XdsError; readonly blame?: Blame }
  ) & { readonly hops: readonly Hop[] };

/** Unreadable content that a server has sent. */
export interface Blame {
  readonly ask: Ask;
  readonly version: string;
}

/** A resource with its version under the requested name. */
export interface LinkedResource {
  readonly resource: Resource;
  readonly version: string;
}

/** One step on the way to a resource: the name, and the version of the content there. */
export interface Step {
  readonly name: string;
  readonly version: string;
}

/**
 * Returns the version of a resource that is delivered under another name: a hash over the names and
 * versions of the steps and over its own version. So readers notice when a redirect moves to
 * another resource of the same version (S-VER-4).
 * For a resource without a version, its content is used.
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

/** The minimum time between two changes of a choice, in milliseconds, without jitter (C-ALT-4). */
const HOLD_MS = 5_000;

/** A choice between a name and its alternative, with a minimum time between two changes. */
export class Choice {
  onAlt = false;
  #heldUntil = 0;

  /**
   * Updates the choice. Returns the time at which to call it again even without a change;
   * `Infinity`: not necessary.
   * @param wanted - True if the state of the primary calls for the alternative. `undefined`: no new
   * information
   * @param shows - True if the present choice delivers a resource, so a change can wait
   */
  decide(wanted: boolean | undefined, shows: boolean, now: number, random: () => number): number {
    if (wanted === undefined || wanted === this.onAlt) return Infinity;
    if (shows && now < this.#heldUntil) return this.#heldUntil;
    this.onAlt = wanted;
    this.#heldUntil = now + HOLD_MS * (1 + random() / 5);
    return Infinity;
  }
}

/**
 * Errors that are answers of a server: the resource does not exist, access is denied, or the
 * resource was rejected.
 */
const ANSWERS: ReadonlySet<string> = new Set([
  "NOT_FOUND",
  "PERMISSION_DENIED",
  "INVALID_ARGUMENT",
]);

/**
 * Returns true if an error of a name or of a glob means that no server that could answer is
 * reachable (C-ALT-2).
 */
export function isOutOfReach(error: XdsError): boolean {
  return isLate(error) || !ANSWERS.has(error.code);
}
