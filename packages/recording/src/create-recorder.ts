import {
  type AnyBytes,
  type ByteStream,
  type ByteStreamHandler,
  type Clock,
  type Status,
  systemClock,
} from "@xdstp/core";
import { describeRequest, describeResponse } from "./read-message.ts";
import type { RecordedEvent } from "./recording.ts";
import { redactResponse } from "./redact-response.ts";

/**
 * Creates a recorder, which writes down the messages on the streams of one client. The times of the
 * events count from this call.
 */
export function createRecorder({
  variant,
  write,
  hide,
  clock = systemClock,
}: {
  /** The protocol variant of the streams. */
  readonly variant: "delta" | "sotw";
  /**
   * Called with each event as it happens. `formatEvent` turns an event into one line of a
   * recording. The bytes in the event are a copy.
   */
  readonly write: (event: RecordedEvent) => void;
  /**
   * Returns the part of a payload that may be recorded, such as `withoutSecrets` of
   * `@xdstp/protos/envoy`. Default: the whole payload.
   */
  readonly hide?: (payload: AnyBytes) => AnyBytes;
  /** The clock that gives the times. Default: the clock of the machine. */
  readonly clock?: Clock;
}): {
  /**
   * Creates the observer of one more stream, for `observeStream`. `server` is the server that the
   * stream goes to.
   */
  observe(server: string): StreamObserver;
} {
  const start = clock.now();
  let streams = 0;
  return {
    observe(server) {
      const stream = ++streams;
      const at = (): { readonly at: number; readonly stream: number } => ({
        at: clock.now() - start,
        stream,
      });
      write({ ...at(), kind: "open", server });
      return {
        sent: (message) => {
          write({
            ...at(),
            kind: "request",
            ...describeRequest(variant, message),
            bytes: Uint8Array.from(message),
          });
        },
        received(message) {
          const bytes = hide === undefined ? message : redactResponse(variant, message, hide);
          write({
            ...at(),
            kind: "response",
            ...describeResponse(variant, bytes),
            bytes: Uint8Array.from(bytes),
          });
        },
        closed: (status, own) => {
          write({ ...at(), kind: "end", by: own ? "client" : "server", status });
        },
      };
    },
  };
}

/**
 * Observes one stream. Each method is called before the message or the end is passed on. The bytes
 * belong to the stream, so an observer must copy what it keeps. The methods must not throw.
 */
export interface StreamObserver {
  /** Called when a message is sent. */
  sent(message: Uint8Array): void;
  /** Called when a message is received. */
  received(message: Uint8Array): void;
  /** Called once, when the stream ends. `own` is true if this side has just ended it. */
  closed(status: Status, own: boolean): void;
}

/**
 * Opens a stream, such as the `connect` of a client, or the `open` of a channel with its method.
 */
export type OpenStream = (handler: ByteStreamHandler) => ByteStream;

/** Returns a function that opens the same streams and attaches an observer to each. */
export function observeStream(open: OpenStream, observe: () => StreamObserver): OpenStream {
  return (handler) => {
    const observer = observe();
    let isOver = false;
    const over = (status: Status, own: boolean): void => {
      if (!isOver) observer.closed(status, own);
      isOver = true;
    };
    const out = open(
      observedHandler(handler, observer, (status) => {
        over(status, false);
      }),
    );
    return observedStream(out, observer, (status) => {
      over(status, true);
    });
  };
}

/**
 * Returns a handler that also calls the observer. A method that the handler does not define stays
 * undefined, because its absence has a meaning.
 */
function observedHandler(
  handler: ByteStreamHandler,
  observer: StreamObserver,
  over: (status: Status) => void,
): ByteStreamHandler {
  return {
    onMessage(message) {
      observer.received(message);
      handler.onMessage(message);
    },
    onDrained: () => {
      handler.onDrained();
    },
    onClosed(status) {
      over(status);
      handler.onClosed(status);
    },
    ...(handler.onOpened !== undefined && {
      onOpened: () => {
        handler.onOpened?.();
      },
    }),
    ...(handler.onEnd !== undefined && {
      onEnd: () => {
        handler.onEnd?.();
      },
    }),
    ...(handler.admits !== undefined && {
      admits: (length: number, prefix: Uint8Array) => handler.admits?.(length, prefix),
    }),
  };
}

function observedStream(
  out: ByteStream,
  observer: StreamObserver,
  over: (status: Status) => void,
): ByteStream {
  return {
    get opening() {
      return out.opening ?? false;
    },
    send(message) {
      observer.sent(message.bytes);
      return out.send(message);
    },
    pause: () => {
      out.pause?.();
    },
    resume: () => {
      out.resume?.();
    },
    close(status) {
      over(status);
      out.close(status);
    },
    ...(out.probe !== undefined && {
      probe: (onAnswer: (isIdle: boolean) => void) => {
        out.probe?.(onAnswer);
      },
    }),
  };
}
