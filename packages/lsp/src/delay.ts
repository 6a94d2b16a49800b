/** Work that waits until nothing has started it for a while. */
export interface Delay {
  /** Starts it, or its wait again. Work that is under way is no longer current. */
  readonly start: () => void;
  /** Ends it; what is under way is no longer current. */
  readonly stop: () => void;
}

/** Makes a {@link Delay}. One run is under way at a time; one that is started meanwhile follows. */
export function createDelay(ms: number, work: (isCurrent: () => boolean) => Promise<void>): Delay {
  let timer: NodeJS.Timeout | undefined;
  let latest = 0;
  let last: Promise<void> = Promise.resolve();
  return {
    start() {
      const own = ++latest;
      clearTimeout(timer);
      timer = setTimeout(() => {
        last = last.then(async () => (own === latest ? work(() => own === latest) : undefined));
      }, ms);
    },
    stop() {
      latest++;
      clearTimeout(timer);
    },
  };
}
