import type { Put, StoredResource, XdsError } from "@xdstp/core";

import type { TrialGroup } from "./trial-group.ts";

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
    let end: (verdict: Verdict) => void = () => undefined;
    this.verdict = new Promise((resolve) => {
      end = resolve;
    });
    this.#end = end;
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
