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
    let timer: NodeJS.Timeout;
    const wait = (left: number): void => {
      const now = Math.min(left, LONGEST);
      timer = setTimeout(() => {
        if (left > now) wait(left - now);
        else callback();
      }, now);
      timer.unref();
    };
    wait(ms);
    return { cancel: () => { clearTimeout(timer); } };
  },
};

/** The longest time that a timer of the machine can wait; a longer one would be over at once. A TTL of a month is more. */
const LONGEST = 2 ** 31 - 1;
