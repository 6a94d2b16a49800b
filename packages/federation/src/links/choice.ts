/** Milliseconds that a choice stands at least, without jitter (C-ALT-4). */
const HOLD_MS = 5_000;

/** Whether an alternative is in use, and until when that stands. */
export class Choice {
  onAlt = false;
  #heldUntil = 0;

  /**
   * Returns when it has to be decided again though nothing has changed.
   * @param wanted - what the primary calls for; undefined: nothing new
   * @param shows - something is delivered by the choice that stands, so that there is no hurry
   */
  decide(wanted: boolean | undefined, shows: boolean, now: number, random: () => number): number {
    if (wanted === undefined || wanted === this.onAlt) return Infinity;
    if (shows && now < this.#heldUntil) return this.#heldUntil;
    this.onAlt = wanted;
    this.#heldUntil = now + HOLD_MS * (1 + random() / 5);
    return Infinity;
  }
}
