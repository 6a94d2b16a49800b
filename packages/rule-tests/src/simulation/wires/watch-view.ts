import type { Report } from "../violation.ts";
import type { State } from "./store.ts";

/** A state, as a process of the origin has said it. */
export interface Said extends State {
  /** The process, of which each start is another life, and the name. */
  readonly life: string;
}

/** The state that a watch shows: nothing has arrived, the resource does not exist, or the text of the resource. */
export type Shown =
  | { readonly kind: "unknown" }
  | { readonly kind: "missing" }
  | { readonly kind: "text"; readonly text: string };

/** The names of the invariants of a watch. */
export interface ViewInvariants {
  readonly neverBack: string;
  readonly lastGoodState: string;
  readonly removalIsSeen: string;
  readonly nothingIsLost: string;
}

/** One watch of a client, and the answers that arrive for it. It is checked whenever it shows something else. */
export class WatchView {
  readonly #label: string;
  readonly #invariants: ViewInvariants;
  readonly #report: Report;
  /** The answers that have arrived in this step. */
  readonly #said: Said[] = [];
  /** The newest answer that the resource does not exist, since the watch has shown something else. A client of SotW may wait for another one, and then conclude from it. */
  #removal: Said | undefined;
  /** The newest state of each life that was shown. */
  readonly #seen = new Map<string, number>();
  #shown: Shown;

  /** @param shown - What it shows at first, as a client may still have a resource. Default: nothing yet. */
  constructor(
    label: string,
    invariants: ViewInvariants,
    report: Report,
    shown: Shown = { kind: "unknown" },
  ) {
    this.#shown = shown;
    this.#label = label;
    this.#invariants = invariants;
    this.#report = report;
  }

  get shown(): Shown {
    return this.#shown;
  }

  /** An answer has arrived at the client, which reads it in the same step. */
  said(said: Said): void {
    this.#said.push(said);
    if (said.text === undefined) this.#removal = said;
  }

  /** The watch shows this at the end of a step. */
  shows(shown: Shown): void {
    const said = this.#said.splice(0).filter(({ text }) => text === textOf(shown));
    const before = this.#shown;
    if (textOf(before) === textOf(shown) && before.kind === shown.kind) return;
    this.#shown = shown;
    if (shown.kind === "missing" && said.length === 0 && this.#removal !== undefined)
      said.push(this.#removal);
    this.#removal = undefined;
    // The client may have the resource already, and one that does not come in time counts as missing.
    if (before.kind === "unknown" && said.length === 0) return;
    if (shown.kind === "unknown" || said.length === 0) {
      this.#report(
        this.#invariants.lastGoodState,
        `${this.#label} shows ${describeShown(shown)} after ${describeShown(before)}, and no answer says so`,
      );
      return;
    }
    // The same state may have arrived from two lives, of which one has shown a newer one before.
    const forward = said.find(({ life, seq }) => seq >= (this.#seen.get(life) ?? 0));
    const [first] = said;
    if (forward !== undefined) this.#seen.set(forward.life, forward.seq);
    else
      this.#report(
        this.#invariants.neverBack,
        `${this.#label} shows ${describeShown(shown)} after ${describeShown(before)}: state ${first?.seq} of ${first?.life}, of which it has shown state ${this.#seen.get(first?.life ?? "")}`,
      );
  }

  /** Reports the difference from what the origin has, when all faults are over. Returns true if there is none. */
  endsAs({ text }: State, report: boolean): boolean {
    const shown = this.#shown;
    if (shown.kind !== "unknown" && textOf(shown) === text) return true;
    if (report)
      this.#report(
        text === undefined ? this.#invariants.removalIsSeen : this.#invariants.nothingIsLost,
        `${this.#label} shows ${describeShown(shown)}, and the origin has ${text ?? "nothing"}`,
      );
    return false;
  }
}

function textOf(shown: Shown): string | undefined {
  return shown.kind === "text" ? shown.text : undefined;
}

function describeShown(shown: Shown): string {
  return shown.kind === "text" ? shown.text : shown.kind;
}
