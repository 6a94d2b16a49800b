import type { Clock, Put, StoredResource, Timer, XdsError } from "@xdstp/core";
import type { TrialGroup } from "./trial-groups.ts";

/** The options of a vote. */
export interface VoteHost {
  readonly clock: Clock;
  readonly clients: number;
  readonly waitMs: number;
  /** Shows candidates again to the clients that see first. */
  show(candidates: readonly Candidate[]): void;
  /** Withdraws candidates: shows the earlier state again. */
  withdraw(candidates: readonly Candidate[]): void;
  /** Applies a verdict. */
  conclude(candidates: readonly Candidate[], verdict: Verdict): void;
}

/**
 * The vote on the changes of one transaction. A client answers a response as a whole, and its text
 * does not say which change is bad (S-ACK-15). If it rejects several candidates at once, half of
 * them are withdrawn until it has answered the others, and so on, until the bad one is alone.
 */
export class Vote {
  readonly #host: VoteHost;
  readonly #shown: Set<Candidate>;
  /** The candidates that were withdrawn, by halves. */
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

  /**
   * Removes a candidate that a newer change has replaced. Call `goOn` when all of them are removed.
   */
  leave(candidate: Candidate): void {
    this.#shown.delete(candidate);
    for (const half of this.#withheld)
      if (half.includes(candidate)) half.splice(half.indexOf(candidate), 1);
  }

  goOn(): void {
    this.#count();
  }

  /** Ends the vote without a verdict. */
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

  /**
   * Concludes after the time limit. A missing answer counts as acceptance, except for candidates
   * that a client has rejected together with others.
   */
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

/**
 * The end of a trial. An error: the candidate is rejected, for that reason. `superseded`: a newer
 * change of the name has come.
 */
export type Verdict = "accepted" | "superseded" | XdsError;

/** A changed resource that some clients see before the others. */
export class Candidate {
  readonly put: Put;
  readonly name: string;
  /** The interests whose first clients are shown it. */
  readonly groups: readonly TrialGroup[];
  /**
   * The resource of the name in the cache ahead, as far as this trial has put it there. undefined:
   * none.
   */
  held: StoredResource | undefined;
  readonly accepts: Set<string> = new Set<string>();
  /**
   * The clients that have rejected it together with others and have not accepted it since, with
   * their reasons.
   */
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

  /** The reason of the first such rejection. undefined: there is none. */
  get suspicion(): XdsError | undefined {
    return this.suspectedBy.values().next().value;
  }

  /**
   * Returns true if enough clients have accepted it, or all clients that were ever shown it. A
   * client that has disconnected does not answer.
   */
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

  /** Ends the trial. Called once, when both caches have the outcome. */
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
