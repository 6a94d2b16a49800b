import type { Clock } from "@xdstp/core";
import type { SeededRandom } from "@xdstp/testing";

/** The delays of a network, and its losses while a storm lasts. */
export class Weather {
  readonly #clock: Clock;
  readonly #random: SeededRandom;
  #stormUntil = -Infinity;

  constructor(clock: Clock, random: SeededRandom) {
    this.#clock = clock;
    this.#random = random;
  }

  storm(ms: number): void {
    this.#stormUntil = this.#clock.now() + ms;
  }

  calm(): void {
    this.#stormUntil = -Infinity;
  }

  /** Resolves when a message has crossed the network. Rejects if it is lost; or never settles, as some losses are not noticed. */
  async cross(): Promise<void> {
    const isStorm = this.#clock.now() < this.#stormUntil;
    await this.pause(isStorm ? this.#random.below(3_000) : this.#random.between(1, 20));
    if (!isStorm || !this.#random.once(8)) return;
    if (this.#random.once(4)) await new Promise(() => undefined);
    throw new TypeError("the connection is lost");
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve);
    });
  }
}
