import {
  connect,
  type ClientHttp2Session,
  type SecureClientSessionOptions,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import { once } from "node:events";
import { connect as connectSocket, type Socket } from "node:net";

/** The result of a call. */
export interface CallResult {
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly messages: readonly Buffer[];
  /** The code of the reset, or 0 if there was no reset. */
  readonly rstCode: number;
}

/** A call of a raw client. */
export interface RawClientCall {
  readonly stream: ClientHttp2Stream;
  readonly messages: Buffer[];
  /** Resolves with the next message that `next` has not returned yet. */
  next(): Promise<Buffer>;
  /** Resolves when the call is over. */
  readonly result: Promise<CallResult>;
}

/** An HTTP/2 client that sends exactly what the test says. */
export interface RawClient {
  readonly session: ClientHttp2Session;
  /** Resolves when the session is over. */
  readonly closed: Promise<void>;
  call(path: string, headers?: OutgoingHttpHeaders): RawClientCall;
  /** Resolves when the server has read everything that was sent before. */
  roundTrip(): Promise<void>;
  close(): void;
  /** Closes the connection abruptly (not over TLS). */
  breakOff(): void;
}

/**
 * Connects to a server on loopback, over TLS if there are options for it. Rejects with the error if
 * it cannot connect.
 */
export async function createRawClient(
  port: number,
  tls?: SecureClientSessionOptions,
): Promise<RawClient> {
  let socket: Socket | undefined;
  const session =
    tls === undefined
      ? connect(`http://127.0.0.1:${port}`, {
          createConnection: () => (socket = connectSocket(port, "127.0.0.1")),
        })
      : connect(`https://localhost:${port}`, tls);
  const closed = new Promise<void>((resolve) => {
    session.once("close", () => {
      resolve();
    });
  });
  await Promise.race([
    once(session, "remoteSettings"),
    closed.then(() => {
      throw new Error("the server closed the connection");
    }),
  ]);
  session.on("error", () => {
    /* `close` follows */
  });
  return {
    session,
    closed,
    call: (path, headers) => openCall(session, path, headers),
    roundTrip: () =>
      new Promise((resolve) => {
        session.ping(() => {
          resolve();
        });
      }),
    close: () => {
      session.destroy();
    },
    breakOff: () => {
      socket?.destroy();
    },
  };
}

/** Returns the envelope of a message. */
export function enveloped(bytes: Uint8Array | string, flag = 0): Buffer {
  const body = Buffer.from(bytes);
  const head = Buffer.alloc(5);
  head.writeUInt8(flag, 0);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

function openCall(
  session: ClientHttp2Session,
  path: string,
  headers: OutgoingHttpHeaders = {},
): RawClientCall {
  const stream = session.request(
    {
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    },
    { endStream: false },
  );
  const messages: Buffer[] = [];
  const takers: ((message: Buffer) => void)[] = [];
  let taken = 0;
  let left: Buffer = Buffer.alloc(0);
  let answered: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  const offer = (): void => {
    while (taken < messages.length) {
      const taker = takers.shift();
      const message = messages[taken];
      if (taker === undefined || message === undefined) return;
      taken += 1;
      taker(message);
    }
  };
  stream.on("error", () => {
    /* the result has the code */
  });
  stream.on("response", (response: IncomingHttpHeaders) => {
    answered = response;
  });
  stream.on("trailers", (response: IncomingHttpHeaders) => {
    trailers = response;
  });
  stream.on("data", (chunk: Buffer) => {
    left = Buffer.concat([left, chunk]);
    while (left.length >= 5 && left.length >= 5 + left.readUInt32BE(1)) {
      const end = 5 + left.readUInt32BE(1);
      messages.push(Buffer.from(left.subarray(5, end)));
      left = left.subarray(end);
    }
    offer();
  });
  const result = new Promise<CallResult>((resolve) => {
    stream.on("close", () => {
      resolve({
        headers: answered,
        trailers: { ...answered, ...trailers },
        messages,
        rstCode: stream.rstCode,
      });
    });
  });
  const next = (): Promise<Buffer> =>
    new Promise((resolve) => {
      takers.push(resolve);
      offer();
    });
  return { stream, messages, next, result };
}
