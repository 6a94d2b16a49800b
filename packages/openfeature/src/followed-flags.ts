import type { Clock, ResourceSource, Topic, Watcher } from "@xdstp/core";

import { createDocumentBuilder, type DocumentOptions, type FlagDocument } from "./flag-document.ts";

/** The flags of one collection of one source, shared by all callers. */
export class FollowedFlags implements Watcher {
  readonly source: ResourceSource;
  readonly collection: string;
  /** The number of calls that use it; written by the flag source. */
  users = 0;
  readonly #topic: Topic;
  readonly #build: ReturnType<typeof createDocumentBuilder>;
  readonly #clock: Clock;
  readonly #waiters = new Set<() => void>();
  /** The head of the topic for which the document was built. */
  #head = -1;
  #document: FlagDocument | undefined;

  constructor(source: ResourceSource, options: DocumentOptions & { readonly clock: Clock }) {
    this.source = source;
    this.collection = options.collection;
    this.#clock = options.clock;
    this.#build = createDocumentBuilder(options);
    this.#topic = source.topic(options.reader.typeUrl, { name: options.collection });
    this.#topic.watch(this);
  }

  /** The present flags. Undefined: the first state is not known yet. */
  get document(): FlagDocument | undefined {
    if (!this.#topic.settled) return this.#document;
    if (this.#head !== this.#topic.head) {
      this.#head = this.#topic.head;
      this.#document = this.#build(this.#topic.members());
    }
    return this.#document;
  }

  /** The reason why the first state cannot be known at present, if there is one. */
  get problem(): string | undefined {
    return this.#topic.stale?.text;
  }

  /**
   * Waits until the flags differ from those that the caller knows, `ms` milliseconds have passed,
   * or the signal aborts. Resolves with the flags of that moment.
   */
  async next(
    known: FlagDocument | undefined,
    ms: number,
    signal: AbortSignal,
  ): Promise<FlagDocument | undefined> {
    if (this.document !== known || signal.aborted) return this.document;
    const deadline = this.#clock.now() + ms;
    do await this.#wait(deadline - this.#clock.now(), signal);
    while (this.document === known && !hasEnded(signal) && this.#clock.now() < deadline);
    return this.document;
  }

  wake(): void {
    for (const release of [...this.#waiters]) release();
  }

  /** Waits until something may have changed. */
  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const release = (): void => {
        this.#waiters.delete(release);
        timer.cancel();
        signal.removeEventListener("abort", release);
        resolve();
      };
      const timer = this.#clock.after(ms, release);
      signal.addEventListener("abort", release);
      this.#waiters.add(release);
    });
  }

  end(): void {
    this.#topic.unwatch(this);
  }
}

/** A function, since TypeScript assumes that the value does not change. */
function hasEnded({ aborted }: AbortSignal): boolean {
  return aborted;
}
