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

/** A recorder, which writes down what passes on the streams of one client. Times count from here. */
export function createRecorder({
  variant,
  write,
  hide,
  clock = systemClock,
}: {
  /** The variant of the streams. */
  readonly variant: "delta" | "sotw";
  /** Told each event as it happens; see `formatEvent` for a line of it. The bytes are a copy. */
  readonly write: (event: RecordedEvent) => void;
  /** Returns the part of a payload that may be recorded, such as `withoutSecrets` of `@xdstp/protos/envoy`. Default: all of it. */
  readonly hide?: (payload: AnyBytes) => AnyBytes;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}): {
  /** An observer for one more stream, for `observeStream`. `server`: whom it asks. */
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

/** Sees what passes on one stream. Called before whoever it passes to; the bytes are lent. It must not throw. */
export interface StreamObserver {
  /** A message was sent. */
  sent(message: Uint8Array): void;
  /** A message was received. */
  received(message: Uint8Array): void;
  /** Once. `own`: this side has ended it, just now. */
  closed(status: Status, own: boolean): void;
}

/** Opens a stream: `connect` of a client, or the `open` of a channel with its method. */
export type OpenStream = (handler: ByteStreamHandler) => ByteStream;

/** The same streams, with an observer for each. */
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

/** What a handler leaves out has a meaning, so it is left out here too. */
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
