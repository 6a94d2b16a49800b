import type { Report } from "../../violation.ts";
import type { Shown, ViewInvariants } from "../watch-view.ts";
import type { State } from "../store.ts";

/** The states of one name in a place, in the order in which its file had them. Absent text: a whole file without the name. */
export class Published {
  readonly #texts: (string | undefined)[] = [];

  /** Notes the state that the file has now. */
  note(text: string | undefined): void {
    if (this.#texts.length === 0 || this.#texts.at(-1) !== text) this.#texts.push(text);
  }

  /** Returns the first index from `from` on with this text; -1: there is none. */
  find(text: string | undefined, from: number): number {
    return this.#texts.indexOf(text, from);
  }
}

/** One watch of a reader of files. It may skip states, and must not go back. */
export class FileView {
  readonly #label: string;
  readonly #invariants: ViewInvariants;
  readonly #published: Published;
  readonly #report: Report;
  #at = 0;
  #shown: Shown;

  constructor(
    {
      label,
      invariants,
      published,
    }: {
      readonly label: string;
      readonly invariants: ViewInvariants;
      readonly published: Published;
    },
    report: Report,
    shown: Shown,
  ) {
    this.#label = label;
    this.#invariants = invariants;
    this.#published = published;
    this.#report = report;
    this.#shown = shown;
  }

  /** The watch shows this at the end of a step. */
  shows(shown: Shown): void {
    const before = this.#shown;
    const text = textOf(shown);
    if (before.kind === shown.kind && textOf(before) === text) return;
    this.#shown = shown;
    const at = shown.kind === "unknown" ? -1 : this.#published.find(text, this.#at);
    if (at !== -1) {
      this.#at = at;
      return;
    }
    // A resource that does not come in time counts as missing.
    if (before.kind === "unknown" && shown.kind === "missing") return;
    const isOld = shown.kind !== "unknown" && this.#published.find(text, 0) !== -1;
    this.#report(
      isOld ? this.#invariants.neverBack : this.#invariants.lastGoodState,
      `${this.#label} shows ${text ?? shown.kind} after ${textOf(before) ?? before.kind}, ${isOld ? "which is older" : "which no whole file has said"}`,
    );
  }

  /** Reports the difference from what the place has, when all faults are over. Returns true if there is none. */
  endsAs({ text }: State, report: boolean): boolean {
    const shown = this.#shown;
    if (shown.kind !== "unknown" && textOf(shown) === text) return true;
    if (report)
      this.#report(
        text === undefined ? this.#invariants.removalIsSeen : this.#invariants.nothingIsLost,
        `${this.#label} shows ${textOf(shown) ?? shown.kind}, and the place has ${text ?? "nothing"}`,
      );
    return false;
  }
}

function textOf(shown: Shown): string | undefined {
  return shown.kind === "text" ? shown.text : undefined;
}
