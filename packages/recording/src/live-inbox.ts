import type { ByteStreamHandler, Clock, Status } from "@xdstp/core";

/** What comes on a stream, one message after the other, for whoever waits for it. */
export interface LiveInbox {
  readonly handler: ByteStreamHandler;
  /** Messages that were not taken yet. */
  readonly length: number;
  /** How the stream ended. Absent: it has not. */
  readonly closed: Status | undefined;
  /** The oldest message; undefined: none has come in `ms` milliseconds, or none will. */
  next(ms: number): Promise<Uint8Array | undefined>;
  /** How the stream ended; undefined: it has not in `ms` milliseconds. */
  whenClosed(ms: number): Promise<Status | undefined>;
}

/** An inbox for one stream. `signal` ends the waiting. */
export function createLiveInbox(clock: Clock, signal?: AbortSignal): LiveInbox {
  const messages: Uint8Array[] = [];
  let closed: Status | undefined;
  let wake: () => void = () => undefined;
  signal?.addEventListener(
    "abort",
    () => {
      wake();
    },
    { once: true },
  );
  const updates = async (isThere: () => boolean, ms: number): Promise<void> => {
    const until = clock.now() + ms;
    while (!isThere() && signal?.aborted !== true) {
      const left = until - clock.now();
      if (left <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = clock.after(left, resolve);
        wake = () => {
          timer.cancel();
          resolve();
        };
      });
    }
  };
  return {
    handler: {
      onMessage(message) {
        messages.push(Uint8Array.from(message));
        wake();
      },
      onDrained: () => undefined,
      onClosed(status) {
        closed = status;
        wake();
      },
    },
    get length() {
      return messages.length;
    },
    get closed() {
      return closed;
    },
    async next(ms) {
      await updates(() => messages.length > 0 || closed !== undefined, ms);
      return messages.shift();
    },
    async whenClosed(ms) {
      await updates(() => closed !== undefined, ms);
      return closed;
    },
  };
}
