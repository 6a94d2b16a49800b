import type { ServerEvent } from "./server-event.ts";

/** A listener for events. */
export interface EventHub {
  /** Adds a listener; the answer removes it. */
  listen(listener: (event: ServerEvent) => void): () => void;
  /** Notifies all listeners, in the order in which they were added. undefined without listeners, so that no event is made. */
  readonly emit: ((event: ServerEvent) => void) | undefined;
  /** Reports an error thrown by code of the user. The peer sees a fixed text at most. */
  readonly fault: (where: string, error: unknown) => void;
}

/** A hub that survives its listeners: an error of one is reported to all as a fault, once, and goes no further. */
export function createEventHub(): EventHub {
  const listeners = new Set<(event: ServerEvent) => void>();
  const tell = (event: ServerEvent): void => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        if (event.kind !== "fault") tell({ kind: "fault", where: "event listener", error });
      }
    }
  };
  return {
    listen(listener) {
      const own = (event: ServerEvent): void => {
        listener(event);
      };
      listeners.add(own);
      return () => {
        listeners.delete(own);
      };
    },
    get emit() {
      return listeners.size === 0 ? undefined : tell;
    },
    fault(where, error) {
      tell({ kind: "fault", where, error });
    },
  };
}
