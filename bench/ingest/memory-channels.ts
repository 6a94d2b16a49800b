import type { ByteStreamHandler } from "@xdstp/core";
import type { Channels } from "@xdstp/client";

/** A server without a wire: what the client sends is counted, what it gets is given to it. */
export interface MemoryServer {
  readonly channels: Channels;
  readonly requests: number;
  readonly bytes: number;
  give(response: Buffer): void;
}

/** Made again for each measurement. */
export function createMemoryServer(): MemoryServer {
  const counts = { requests: 0, bytes: 0 };
  let client: ByteStreamHandler | undefined;
  return {
    get requests() {
      return counts.requests;
    },
    get bytes() {
      return counts.bytes;
    },
    channels: {
      acquire: () => ({
        open(_, handler) {
          client = handler;
          return {
            send({ bytes }) {
              counts.requests++;
              counts.bytes += bytes.length;
              return true;
            },
            close(status) {
              handler.onClosed(status);
            },
          };
        },
        release: () => undefined,
      }),
    },
    give(response) {
      client?.onMessage(response);
    },
  };
}
