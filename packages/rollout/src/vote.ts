import type { Clock, Put, StoredResource, Timer, XdsError } from "@xdstp/core";
import type { TrialGroup } from "./trial-groups.ts";

/** The options of a vote. */
export interface VoteHost {
  readonly clock: Clock;
  readonly clients: number;
  readonly waitMs: number;
  /** Shows these again to those who see first. */
  show(candidates: readonly Candidate[]): void;
  /** Puts what was before in their place. */
  withdraw(candidates: readonly Candidate[]): void;
  /** Does what follows from a verdict. */
  conclude(candidates: readonly Candidate[], verdict: Verdict): void;
}

/**
 * The vote on what one transaction has changed. A client answers a response as a whole: where it has rejected several candidates at once,
 * half of them are withdrawn until it has answered the others, and so on, until the bad one is alone (S-ACK-15: its text does not say which one it is).
 */
export class Vote {
  readonly #host: VoteHost;
  readonly #shown: Set<Candidate>;
  /** Under suspicion and out of sight, by halves. */
  readonly #withheld: Candidate[][] = [];
  readonly #timer: Timer;

  constructor(candidates: readonly Candidate[], host: VoteHost) {
    this.#host = host;
    this.#shown = new Set(candidates);
    this.#timer = host.clock.after(host.waitMs, () => {
      this.#timeOut();
    });
  }

  get open(): readonly Candidate[] {
    return [...this.#shown, ...this.#withheld.flat()];
  }

  has(candidate: Candidate): boolean {
    return this.#shown.has(candidate);
  }

  accept(client: string, candidates: readonly Candidate[]): void {
    for (const candidate of candidates) candidate.accept(client);
    this.#count();
  }

  reject(client: string, error: XdsError, candidates: readonly Candidate[]): void {
    if (candidates.length === 1) {
      this.#conclude(candidates, error);
    } else {
      for (const candidate of candidates) candidate.suspectedBy.set(client, error);
      const half = candidates.slice(Math.ceil(candidates.length / 2));
      for (const candidate of half) this.#shown.delete(candidate);
      this.#withheld.push(half);
      this.#host.withdraw(half);
    }
    this.#count();
  }

  /** Something newer has come; `goOn` is called once that is known of all. */
  leave(candidate: Candidate): void {
    this.#shown.delete(candidate);
    for (const half of this.#withheld)
      if (half.includes(candidate)) half.splice(half.indexOf(candidate), 1);
  }

  goOn(): void {
    this.#count();
  }

  /** A quorum that ends runs no votes any more. */
  close(): void {
    this.#timer.cancel();
  }

  #count(): void {
    const accepted = [...this.#shown].filter((candidate) =>
      candidate.isAccepted(this.#host.clients),
    );
    if (accepted.length > 0) this.#conclude(accepted, "accepted");
    while (
      this.#withheld.length > 0 &&
      ![...this.#shown].some(({ suspicion }) => suspicion !== undefined)
    )
      this.#showAgain(this.#withheld.pop() ?? []);
    if (this.#shown.size === 0) this.close();
  }

  #showAgain(half: readonly Candidate[]): void {
    for (const candidate of half) this.#shown.add(candidate);
    if (half.length > 0) this.#host.show(half);
  }

  /** Silence is acceptance, but not of what a client has rejected together with others. */
  #timeOut(): void {
    const { open } = this;
    this.#withheld.length = 0;
    const good = open.filter(({ suspicion }) => suspicion === undefined);
    for (const candidate of open)
      if (candidate.suspicion !== undefined) this.#conclude([candidate], candidate.suspicion);
    if (good.length > 0) this.#conclude(good, "accepted");
  }

  #conclude(candidates: readonly Candidate[], verdict: Verdict): void {
    for (const candidate of candidates) this.#shown.delete(candidate);
    this.#host.conclude(candidates, verdict);
  }
}

/** How a trial has ended. An error: it is rejected, for that reason. `superseded`: there is something newer of the name by now. */
export type Verdict = "accepted" | "superseded" | XdsError;

/** A changed resource that some clients see before the others. */
export class Candidate {
  readonly put: Put;
  readonly name: string;
  /** The interests whose first clients are shown it. */
  readonly groups: readonly TrialGroup[];
  /** What is ahead under the name, as far as this trial is concerned. */
  held: StoredResource | undefined;
  readonly accepts: Set<string> = new Set<string>();
  /** Who has rejected it together with others, and has not accepted it since. */
  readonly suspectedBy: Map<string, XdsError> = new Map<string, XdsError>();
  readonly verdict: Promise<Verdict>;
  readonly #end: (verdict: Verdict) => void;
  readonly #asked = new Set<string>();

  constructor(put: Put, name: string, held: StoredResource, groups: readonly TrialGroup[]) {
    this.put = put;
    this.name = name;
    this.held = held;
    this.groups = groups;
    const { promise, resolve } = Promise.withResolvers<Verdict>();
    this.verdict = promise;
    this.#end = resolve;
    for (const group of groups) group.trials++;
    this.#everAsked();
  }

  /** Why it is under suspicion. */
  get suspicion(): XdsError | undefined {
    return this.suspectedBy.values().next().value;
  }

  /** Enough clients have accepted it, or all that ever saw it: who has left is silent. */
  isAccepted(clients: number): boolean {
    return (
      this.suspectedBy.size === 0 &&
      (this.accepts.size >= clients || this.#everAsked().isSubsetOf(this.accepts))
    );
  }

  accept(client: string): void {
    this.accepts.add(client);
    this.suspectedBy.delete(client);
  }

  /** Once, when what follows from it is in both caches. */
  end(verdict: Verdict): void {
    this.#end(verdict);
    for (const group of this.groups) group.trials--;
    for (const group of this.groups) group.fill();
  }

  #everAsked(): ReadonlySet<string> {
    for (const { members } of this.groups) for (const client of members) this.#asked.add(client);
    return this.#asked;
  }
}
