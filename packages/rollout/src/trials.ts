import { type Clock, type Entry, type StoredResource, XdsError } from "@xdstp/core";
import type { HeldByResponse, NackError, StreamEvent } from "@xdstp/protocol/server";

import { type Candidate, type Verdict, Vote, type VoteHost } from "./vote.ts";
import { clientKey } from "./client-topic.ts";

type Answer = Extract<StreamEvent, { readonly kind: "ack" | "nack" }>;

/** The place in which candidates are shown and concluded. */
export type Stage = Pick<VoteHost, "show" | "withdraw" | "conclude">;

/** The candidates on trial, and the votes on them. */
export class Trials {
  readonly #limits: Pick<VoteHost, "clock" | "clients" | "waitMs">;
  readonly #openVotes = new Map<Candidate, Vote>();
  /** The candidates that are shown, by their resource. */
  readonly #shown = new Map<StoredResource, Candidate>();
  /**
   * Resources that were shown and withdrawn. A rejection that one of them explains says nothing
   * about what is shown now.
   */
  readonly #withdrawn = new WeakSet<StoredResource>();
  /** The candidates in the arrays of responses; cleared when the shown candidates change. */
  #found = new WeakMap<readonly Entry[], ReadonlySet<Candidate>>();
  /**
   * By stream, the types whose client rejects a response without a candidate. It will reject again
   * whatever is added, so its rejections do not count.
   */
  readonly #stubborn = new Map<number, Set<string>>();

  constructor(limits: {
    readonly clock: Clock;
    readonly clients: number;
    readonly waitMs: number;
  }) {
    this.#limits = limits;
  }

  get running(): Iterable<Candidate> & { readonly size: number } {
    return { size: this.#openVotes.size, [Symbol.iterator]: () => this.#openVotes.keys() };
  }

  /** Returns the candidate that is shown with exactly this resource. */
  of(resource: StoredResource | undefined): Candidate | undefined {
    return resource === undefined ? undefined : this.#shown.get(resource);
  }

  begin(candidates: readonly Candidate[], stage: Stage): void {
    const vote = new Vote(candidates, {
      ...this.#limits,
      show: (again) => {
        this.#hide(again);
        stage.show(again);
        this.#show(again);
      },
      withdraw: (half) => {
        this.#hide(half);
        stage.withdraw(half);
      },
      conclude: (ended, verdict) => {
        this.#hide(ended, verdict);
        for (const candidate of ended) this.#openVotes.delete(candidate);
        stage.conclude(ended, verdict);
      },
    });
    for (const candidate of candidates) this.#openVotes.set(candidate, vote);
    this.#show(candidates);
  }

  /** Ends the trials of candidates that a newer change has replaced. */
  supersede(candidates: readonly Candidate[]): void {
    const openVotes = new Set(
      candidates.flatMap((candidate) => this.#openVotes.get(candidate) ?? []),
    );
    this.#hide(candidates);
    for (const candidate of candidates) {
      this.#openVotes.get(candidate)?.leave(candidate);
      this.#openVotes.delete(candidate);
      candidate.end("superseded");
    }
    for (const vote of openVotes) vote.goOn();
  }

  /**
   * Handles an event of a stream. The stream reports it before it has applied it, and a conclusion
   * may change what the stream has to send, so the conclusion follows when that is done.
   */
  observe(event: StreamEvent): void {
    if (event.kind === "disconnect") this.#stubborn.delete(event.stream.id);
    if (event.kind === "ack")
      queueMicrotask(() => {
        this.#accepted(event);
      });
    if (event.kind === "nack")
      queueMicrotask(() => {
        this.#rejected(event);
      });
  }

  close(): void {
    for (const vote of this.#openVotes.values()) vote.close();
  }

  #accepted({ stream, typeUrl, held }: Answer): void {
    this.#stubborn.get(stream.id)?.delete(typeUrl);
    const client = clientKey(stream);
    if (client === undefined || this.#shown.size === 0) return;
    for (const [vote, candidates] of this.#hit(client, held)) vote.accept(client, candidates);
  }

  #rejected(event: Answer & { readonly error?: NackError }): void {
    const { stream, typeUrl, held, error } = event;
    const client = clientKey(stream);
    if (
      client === undefined ||
      error === undefined ||
      this.#stubborn.get(stream.id)?.has(typeUrl) === true
    )
      return;
    if (
      held?.entries.some(
        ({ resource }) => resource !== undefined && this.#withdrawn.has(resource),
      ) === true
    )
      return;
    const hit = this.#hit(client, held);
    if (hit.size === 0) this.#noteStubborn(stream.id, typeUrl);
    for (const [vote, candidates] of hit)
      vote.reject(client, rejectedBy(client, error), candidates);
  }

  /**
   * Returns the candidates in a response, by vote, except those that the client has already
   * accepted.
   */
  #hit(client: string, held: HeldByResponse | undefined): ReadonlyMap<Vote, readonly Candidate[]> {
    const hit = new Map<Vote, Candidate[]>();
    for (const candidate of held === undefined ? [] : this.#findIn(held.entries)) {
      const vote = this.#openVotes.get(candidate);
      if (vote === undefined || candidate.accepts.has(client)) continue;
      const candidates = hit.get(vote);
      if (candidates === undefined) hit.set(vote, [candidate]);
      else candidates.push(candidate);
    }
    return hit;
  }

  /** Returns the candidates in an array; computed once per array, since streams share arrays. */
  #findIn(entries: readonly Entry[]): ReadonlySet<Candidate> {
    let found = this.#found.get(entries);
    if (found === undefined)
      this.#found.set(
        entries,
        (found = new Set(entries.flatMap(({ resource }) => this.of(resource) ?? []))),
      );
    return found;
  }

  #noteStubborn(stream: number, typeUrl: string): void {
    const types = this.#stubborn.get(stream);
    if (types === undefined) this.#stubborn.set(stream, new Set([typeUrl]));
    else types.add(typeUrl);
  }

  #show(candidates: readonly Candidate[]): void {
    this.#found = new WeakMap();
    for (const candidate of candidates)
      if (candidate.held !== undefined) this.#shown.set(candidate.held, candidate);
  }

  #hide(candidates: readonly Candidate[], verdict?: Verdict): void {
    this.#found = new WeakMap();
    for (const { held } of candidates)
      if (held !== undefined && this.#shown.delete(held) && verdict !== "accepted")
        this.#withdrawn.add(held);
  }
}

function rejectedBy(client: string, { message }: NackError): XdsError {
  return new XdsError(
    "INVALID_ARGUMENT",
    `rejected by ${client}: ${message === "" ? "it gives no reason" : message}`,
  );
}
