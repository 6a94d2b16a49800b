import type { ResourceType } from "@xdstp/core";
import type { Absence, Answer, ReceivedResponse, Subscriptions, Want, Wants } from "@xdstp/core/client";
import { nameKey } from "@xdstp/uri";

import { encodeRequest } from "./encode-request.ts";

/** What has to be said of one type on one SotW stream: each time all that is wanted. */
export function createSotwSubscriptions(typeUrl: string, wants: Wants, type: ResourceType | undefined): Subscriptions {
  return new SotwSubscriptions(typeUrl, wants, type);
}

const NOTHING: Absence = { complete: [], gone: [], missing: [] };

class SotwSubscriptions implements Subscriptions {
  readonly #typeUrl: string;
  readonly #wants: Wants;
  readonly #type: ResourceType | undefined;
  /** Left out of the next request, so that the one after it asks anew (C-TTL-3). */
  readonly #without = new Set<Want>();
  #version = "";
  #nonce = "";
  #changed = false;
  #first = true;
  /** So far the list was empty and meant everything. */
  #legacy = false;

  constructor(typeUrl: string, wants: Wants, type: ResourceType | undefined) {
    this.#typeUrl = typeUrl;
    this.#wants = wants;
    this.#type = type;
  }

  get due(): boolean {
    return this.#changed;
  }

  begin(_: Wants, version: string): void {
    this.#without.clear();
    this.#version = version;
    this.#nonce = "";
    this.#first = true;
    this.#changed = true;
  }

  add(): void {
    this.#changed = true;
  }

  drop(want: Want): void {
    this.#without.delete(want);
    this.#changed ||= want.asked;
  }

  again(want: Want): void {
    this.#without.add(want);
    this.#changed = true;
  }

  /** Every request has the newest nonce of the type, also one that only changes names (C-NONCE-3). */
  request(answer: Answer | undefined): Uint8Array {
    if (answer !== undefined) {
      this.#nonce = answer.nonce;
      this.#version = answer.version;
    }
    const names = [...this.#wants].filter((want) => !this.#without.has(want)).map(({ interest }) => interest);
    this.#legacy = this.#isLegacyWildcard() && (this.#first || this.#legacy);
    const bytes = encodeRequest({ typeUrl: this.#typeUrl, version: this.#version, nonce: this.#nonce, names: this.#legacy ? [] : names, error: answer?.error });
    this.#first = false;
    this.#changed = this.#without.size > 0;
    this.#without.clear();
    return bytes;
  }

  /** Each response of full state has all there is. What was asked for only after the server may have sent it, it says nothing of; a name that has never come is left to the timer, since a server may send what it has so far, unless it sends all (C-FULL-3, C-WILD-11). */
  absence({ resources }: ReceivedResponse): Absence {
    if (this.#type?.fullStateInSotw !== true) return NOTHING;
    const counted = [...this.#wants].filter(({ awaited, askedFirst }) => !awaited || askedFirst);
    const complete = counted.filter(({ kind }) => kind !== "name");
    const present = new Set(resources.flatMap(({ name, aliases = [] }) => [name, ...aliases]).map(nameKey));
    const absent = counted.filter(({ kind, key, state }) => kind === "name" && state !== "missing" && state !== "timeout" && !present.has(key));
    const isAll = complete.some(({ kind }) => kind === "wildcard");
    return { complete, gone: absent, missing: isAll ? absent.filter(({ awaited }) => awaited) : [] };
  }

  /** The form that every server understands; it cannot be gone back to once there were names (C-WILD-9). */
  #isLegacyWildcard(): boolean {
    const [only] = this.#wants;
    return (this.#type?.legacyWildcard ?? true) && this.#wants.size === 1 && only?.kind === "wildcard" && only.interest.parameters === undefined;
  }
}
