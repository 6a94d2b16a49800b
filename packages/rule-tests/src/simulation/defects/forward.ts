import type { ByteStream, ByteStreamHandler } from "@xdstp/core";

/** The same stream, so that some of it can be another. */
export function forward(out: ByteStream): ByteStream {
  return {
    send: (message) => out.send(message),
    close: (status) => {
      out.close(status);
    },
    pause: () => {
      out.pause?.();
    },
    resume: () => {
      out.resume?.();
    },
  };
}

/** The same handler, so that some of it can be another. */
export function forwardTo(handler: ByteStreamHandler): ByteStreamHandler {
  return {
    onMessage: (message) => {
      handler.onMessage(message);
    },
    onDrained: () => {
      handler.onDrained();
    },
    onClosed: (status) => {
      handler.onClosed(status);
    },
  };
}
