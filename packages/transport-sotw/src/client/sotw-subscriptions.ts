import { type Interest, interestKey, type ResourceType } from "@xdstp/core";
import type {
  Absence,
  Answer,
  ReceivedResponse,
  Subscriptions,
  Want,
  Wants,
} from "@xdstp/protocol/client";
import { nameKey } from "@xdstp/uri";

import { encodeRequest } from "./encode-request.ts";

/** What has to be said of one type on one SotW stream: each time all that is wanted. */
export function createSotwSubscriptions(
  typeUrl: string,
  wants: Wants,
  type: ResourceType | undefined,
): Subscriptions {
  return new SotwSubscriptions(typeUrl, wants, type);
}

const NOTHING: Absence = { complete: [], late: [], gone: [], missing: [] };

/** One that has an error has none until the server says otherwise (S-ERR-1). */
const CAN_GO: ReadonlySet<Want["state"]> = new Set<Want["state"]>([
  "requested",
  "held",
  "rejected",
  "missing",
  "timeout",
]);

class SotwSubscriptions implements Subscriptions {
  readonly #typeUrl: string;
  readonly #wants: Wants;
  readonly #type: ResourceType | undefined;
  /** Left out of the next request, so that the one after it asks again (C-TTL-3), and for what is new too: else a state could come of that without the collection that it is in. */
  readonly #without = new Set<Want>();
  /** What the last request had. */
  #sent = new Set<string>();
  /** Dropped after it was asked for on this stream. A server that had a response on its way may not have seen that (S-NONCE-6). */
  readonly #former = new Set<string>();
  #version = "";
  #nonce = "";
  #changed = false;
  #first = true;
  /** So far the list was empty and meant everything. */
  #legacy = false;
  /** It was wanted again while it meant everything. */
  #again = false;

  constructor(typeUrl: string, wants: Wants, type: ResourceType | undefined) {
    this.#typeUrl = typeUrl;
    this.#wants = wants;
    this.#type = type;
  }

  get due(): boolean {
    return this.#changed;
  }

  /** All is asked for again, by the empty list: on this stream that could only be said by way of names, which not every server takes for it (C-WILD-9). */
  get anew(): boolean {
    return this.#again && this.#isLegacyWildcard([...this.#wants]);
  }

  /** The version stands for all that is wanted: with a collection that is not held yet, or not any more, the server would take it for known (S-RECON-7). */
  begin(wants: Wants, version: string): void {
    for (const set of [this.#without, this.#sent, this.#former]) set.clear();
    this.#version = [...wants].some(({ kind, state }) => kind !== "name" && state === "requested")
      ? ""
      : version;
    this.#nonce = "";
    this.#first = true;
    this.#again = false;
    this.#changed = true;
  }

  /** What the server has not seen go, it would not send again. */
  add(want: Want): void {
    this.#changed = true;
    if (!this.#sent.has(idOf(want))) return;
    this.#without.add(want);
    this.#again ||= this.#legacy && want.kind === "wildcard";
  }

  drop(want: Want): void {
    this.#without.delete(want);
    if (!want.asked) return;
    this.#changed = true;
    this.#former.add(idOf(want));
    if (this.#former.size > FORMER)
      for (const oldest of this.#former) {
        this.#former.delete(oldest);
        break;
      }
  }

  again(want: Want): void {
    this.#without.add(want);
    this.#changed = true;
  }

  retry(want: Want): boolean {
    if (!this.#former.delete(idOf(want))) return false;
    this.again(want);
    return true;
  }

  /** Every request has the newest nonce of the type, also one that only changes names (C-NONCE-3). */
  request(answer: Answer | undefined): Uint8Array {
    if (answer !== undefined) {
      this.#nonce = answer.nonce;
      this.#version = answer.version;
    }
    const wanted = [...this.#wants].filter(
      (want) =>
        this.#without.size === 0 || (!this.#without.has(want) && this.#sent.has(idOf(want))),
    );
    return encodeRequest({
      typeUrl: this.#typeUrl,
      version: this.#version,
      nonce: this.#nonce,
      names: this.#list(wanted),
      error: answer?.error,
    });
  }

  #list(wanted: readonly Want[]): readonly Interest[] {
    const wasLegacy = this.#legacy;
    this.#again = false;
    this.#legacy = (this.#first || wasLegacy) && this.#isLegacyWildcard(wanted);
    this.#first = false;
    this.#sent = new Set(wanted.map(idOf));
    // The empty list would go on meaning everything: it is left by the newer form, and the next request is empty.
    if (wasLegacy && wanted.length === 0) {
      this.#changed = true;
      return [{ name: "*" }];
    }
    this.#changed = this.#without.size > 0;
    this.#without.clear();
    return this.#legacy ? [] : wanted.map(({ interest }) => interest);
  }

  /** Each response of full state has all there is. What was asked for only after the server may have sent it, it says nothing of; a name that has never come is left to the timer, since a server may send what it has so far, unless it sends all (C-FULL-3, C-WILD-11). */
  absence({ resources }: ReceivedResponse): Absence {
    if (this.#type?.fullStateInSotw !== true) return NOTHING;
    const answered = this.#answeredLate(resources);
    const counted = [...this.#wants].filter(
      (want) => !want.awaited || want.askedFirst || answered.has(want),
    );
    const complete = counted.filter(({ kind }) => kind !== "name");
    const late = [...this.#wants].filter(
      (want) => want.kind !== "name" && want.asked && !complete.includes(want),
    );
    const present = new Set(
      resources.flatMap(({ key, aliases = [] }) => [key, ...aliases.map(nameKey)]),
    );
    const absent = counted.filter(
      ({ kind, key, state }) => kind === "name" && CAN_GO.has(state) && !present.has(key),
    );
    for (const want of this.#wants)
      want.leftOut = want.awaited && want.asked && want.kind === "name" && !present.has(want.key);
    const isAll = complete.some(({ kind }) => kind === "wildcard");
    return {
      complete,
      late,
      gone: absent,
      missing: absent.filter(
        ({ state }) =>
          state === "rejected" || (isAll && (state === "requested" || state === "held")),
      ),
    };
  }

  /** Collections that were asked for later and that a resource can only have come for: the server has seen them, the oldest first, so this response and each later one has all of them. */
  #answeredLate(resources: ReceivedResponse["resources"]): ReadonlySet<Want> {
    const late = [...this.#wants].filter(
      ({ kind, asked, awaited, askedFirst }) => kind !== "name" && asked && awaited && !askedFirst,
    );
    const answered = new Set<Want>();
    for (const { key, aliases } of late.length === 0 ? [] : resources) {
      const covering = this.#wants.covering(key, aliases);
      const oldest = late.find((want) => covering.includes(want));
      if (oldest !== undefined && covering.every((want) => late.includes(want)))
        answered.add(oldest);
    }
    return answered;
  }

  /** The form that every server understands; it cannot be gone back to once there were names (C-WILD-9). */
  #isLegacyWildcard(wanted: readonly Want[]): boolean {
    const [only] = wanted;
    return (
      (this.#type?.legacyWildcard ?? true) &&
      wanted.length === 1 &&
      only?.kind === "wildcard" &&
      only.interest.parameters === undefined
    );
  }
}

/** So many names are remembered that are not wanted any more. */
const FORMER = 10_000;

function idOf({ interest, key }: Want): string {
  return interestKey(interest, key);
}
