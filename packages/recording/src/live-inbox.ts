import type { ByteStreamHandler, Clock, Status } from "@xdstp/core";

/** Keeps the messages of a stream until the caller takes them, one after the other. */
export interface LiveInbox {
  readonly handler: ByteStreamHandler;
  /** The number of messages that were not taken yet. */
  readonly length: number;
  /** The status that the stream ended with. Undefined while it is open. */
  readonly closed: Status | undefined;
  /**
   * Takes the oldest message. Returns undefined if no message comes within `ms` milliseconds, or if
   * the stream has ended.
   */
  next(ms: number): Promise<Uint8Array | undefined>;
  /**
   * Returns the status that the stream ended with, or undefined if it does not end within `ms`
   * milliseconds.
   */
  whenClosed(ms: number): Promise<Status | undefined>;
}

/** Creates the inbox of one stream. Aborting `signal` ends every wait. */
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
