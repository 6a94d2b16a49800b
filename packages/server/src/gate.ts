import { StatusCode, type ResourceSource, type Status } from "@xdstp/core";

/** Which clients may connect. */
export interface Gate {
  /**
   * Why a new stream or Fetch is turned away; undefined: it may come in. Throws what the source throws.
   * @param of - What it is served from. Default: the source of the gate
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
/** No client is served any more. */
export const shuttingDown: Status = {
  code: StatusCode.UNAVAILABLE,
  message: "the server is shutting down",
};

/** A gate that opens with the first complete state of the source (S-STREAM-9), and closes for good (S-STREAM-13). */
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
