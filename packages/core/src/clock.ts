/** One pending call of a {@link Clock}. */
export interface Timer {
  /** Does nothing once the call has been made. */
  cancel(): void;
}

/** Time as the state machines see it: passed in, so that tests own it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls back once, after at least `ms` milliseconds. The callback never runs before `after` returns. */
  after(ms: number, callback: () => void): Timer;
}

/** The clock of the machine. Its timers do not keep a process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return { cancel: () => { clearTimeout(timer); } };
  },
};
