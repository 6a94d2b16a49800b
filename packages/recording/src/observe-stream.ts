import type { ByteStream, ByteStreamHandler, Status } from "@xdstp/core";

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
