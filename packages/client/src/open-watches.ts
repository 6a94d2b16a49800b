/** The longest that a timer of the machine waits. */
const LONGEST = 2 ** 31 - 1;

/** Watches that are open. They keep the process alive as a connection does: between two attempts there is none, and the timers of a clock do not. */
export class OpenWatches extends Set<{ close(): void }> {
  readonly #onNone: () => void;
  #alive: NodeJS.Timeout | undefined;

  /** @param onNone - Called each time the last one has ended */
  constructor(onNone: () => void = () => undefined) {
    super();
    this.#onNone = onNone;
  }

  override add(watch: { close(): void }): this {
    this.#alive ??= setInterval(() => undefined, LONGEST);
    return super.add(watch);
  }

  override delete(watch: { close(): void }): boolean {
    const was = super.delete(watch);
    if (this.size > 0 || !was) return was;
    clearInterval(this.#alive);
    this.#alive = undefined;
    this.#onNone();
    return was;
  }
}
