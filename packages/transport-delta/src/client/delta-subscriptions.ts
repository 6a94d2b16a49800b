import { type Held, interestKey, type ResourceType } from "@xdstp/core";
import type { Answer, Subscriptions, Want, Wants } from "@xdstp/protocol/client";
import { nameKey } from "@xdstp/uri";

import { encodeRequest } from "./encode-request.ts";

/** What has to be said of one type on one delta stream: only what has changed since the last request. */
export function createDeltaSubscriptions(
  typeUrl: string,
  wants: Wants,
  type: ResourceType | undefined,
): Subscriptions {
  return new DeltaSubscriptions(typeUrl, wants, type);
}

class DeltaSubscriptions implements Subscriptions {
  readonly #typeUrl: string;
  readonly #wants: Wants;
  readonly #legacyWildcard: boolean;
  readonly #subscribe = new Set<Want>();
  readonly #unsubscribe = new Map<string, Want>();
  /** Told and dropped on this stream. */
  readonly #former = new Set<string>();
  #first = true;
  #anew = false;

  constructor(typeUrl: string, wants: Wants, type: ResourceType | undefined) {
    this.#typeUrl = typeUrl;
    this.#wants = wants;
    this.#legacyWildcard = type?.legacyWildcard ?? true;
  }

  get due(): boolean {
    return this.#subscribe.size + this.#unsubscribe.size > 0;
  }

  /** A server that takes what it has told for known says it again on a new stream, by what is held then (C-RECON-3). */
  get anew(): boolean {
    return this.#anew;
  }

  begin(wants: Wants): void {
    this.#first = true;
    this.#anew = false;
    this.#former.clear();
    this.#subscribe.clear();
    this.#unsubscribe.clear();
    for (const want of wants) this.#subscribe.add(want);
  }

  add(want: Want): void {
    this.#subscribe.add(want);
    this.#unsubscribe.delete(idOf(want)); // C-DSUB-4: the server may have heard the end of it, so it hears the beginning
  }

  drop(want: Want): void {
    this.#subscribe.delete(want);
    if (!want.asked) return;
    this.#unsubscribe.set(idOf(want), want);
    if (want.state !== "held") return;
    this.#former.add(idOf(want));
    if (this.#former.size > FORMER)
      for (const oldest of this.#former) {
        this.#former.delete(oldest);
        break;
      }
  }

  again(want: Want): void {
    this.#subscribe.add(want);
  }

  retry(want: Want): boolean {
    if (!this.#former.delete(idOf(want))) return false;
    this.#anew = true;
    return true;
  }

  request(answer: Answer | undefined, held: () => Iterable<Held>): Uint8Array {
    const added = this.#isLegacyWildcard() ? [] : [...this.#subscribe];
    const bytes = encodeRequest({
      typeUrl: this.#typeUrl,
      answer,
      subscribe: added.map(({ interest }) => interest),
      unsubscribe: this.#unsubscribe
        .values()
        .map(({ interest }) => interest)
        .toArray(),
      versions: this.#first ? this.#versions(held()) : new Map<string, string>(),
    });
    this.#first = false;
    this.#subscribe.clear();
    this.#unsubscribe.clear();
    return bytes;
  }

  /** The form that every server understands (C-WILD-9). */
  #isLegacyWildcard(): boolean {
    const [only] = this.#subscribe;
    return (
      this.#first &&
      this.#legacyWildcard &&
      this.#subscribe.size === 1 &&
      only?.kind === "wildcard" &&
      only.interest.parameters === undefined
    );
  }

  /** What is held of what is wanted, so that only the rest is sent (C-RECON-3). */
  #versions(held: Iterable<Held>): ReadonlyMap<string, string> {
    const versions = new Map<string, string>();
    for (const { name, version, resource } of held) {
      const key = nameKey(name);
      this.#wants.linkHeld(key, resource?.aliases);
      if (version !== "" && this.#wants.covering(key).length > 0) versions.set(name, version);
    }
    return versions;
  }
}

/** So many names are remembered that are not wanted any more. */
const FORMER = 10_000;

/** A name with other parameters is another subscription (TP2); another spelling of it is the same one (N-40). */
function idOf({ interest, key }: Want): string {
  return interestKey(interest, key);
}
