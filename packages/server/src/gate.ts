import { StatusCode, type ResourceSource, type Status } from "@xdstp/core";

/** Decides whether clients may connect. */
export interface Gate {
  /**
   * Returns the status that rejects a new stream or Fetch, or `undefined` if it is admitted. Throws
   * the exceptions of the source.
   * @param of - The source that the stream is served from. Default: the source of the gate
   */
  rejection(of?: Pick<ResourceSource, "ready">): Status | undefined;
  /** Admits no more clients. */
  close(): void;
  /** Aborts when the gate closes. */
  readonly closed: AbortSignal;
}

const notReady: Status = {
  code: StatusCode.UNAVAILABLE,
  message: "the first complete state is not loaded yet",
};
/** The status of clients that are rejected while the server closes. */
export const shuttingDown: Status = {
  code: StatusCode.UNAVAILABLE,
  message: "the server is shutting down",
};

/**
 * Creates a gate that opens with the first complete state of the source (S-STREAM-9). After `close`
 * it stays closed (S-STREAM-13).
 */
export function createGate(source: Pick<ResourceSource, "ready">): Gate {
  const closing = new AbortController();
  return {
    rejection(of = source) {
      if (closing.signal.aborted) return shuttingDown;
      return of.ready ? undefined : notReady;
    },
    close() {
      closing.abort();
    },
    closed: closing.signal,
  };
}
