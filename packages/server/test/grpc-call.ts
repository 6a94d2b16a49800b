import { once } from "node:events";
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2";
import type { Wire } from "./client.ts";

/** A gRPC call over HTTP/2, read and written as bytes. */
export interface GrpcCall {
  send(message: Uint8Array): void;
  /** Waits for the next message. Resolves with undefined once the call is over. */
  next(): Promise<Uint8Array | undefined>;
  /** Ends this side of the call. */
  end(): void;
  /** The status with which the call ended. */
  readonly status: Promise<{ readonly code: number; readonly message: string }>;
}

/** Connects to a server on this machine. The caller closes the session. */
export async function connectTo(port: number): Promise<ClientHttp2Session> {
  const session = connect(`http://127.0.0.1:${port}`);
  await once(session, "connect");
  return session;
}

/** Opens a call. */
export function openCall(session: ClientHttp2Session, path: string): GrpcCall {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
  });
  const messages: Uint8Array[] = [];
  const status = Promise.withResolvers<{ code: number; message: string }>();
  let wake = Promise.withResolvers<undefined>();
  let over = false;
  let rest = Buffer.alloc(0);
  const told = (headers: IncomingHttpHeaders): void => {
    const code = headers["grpc-status"];
    if (code !== undefined)
      status.resolve({
        code: Number(code),
        message: decodeURIComponent(String(headers["grpc-message"] ?? "")),
      });
  };
  const updates = (): void => {
    wake.resolve(undefined);
    wake = Promise.withResolvers();
  };
  stream.on("response", told);
  stream.on("trailers", told);
  stream.on("error", () => undefined);
  stream.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1);
      messages.push(rest.subarray(5, end));
      rest = rest.subarray(end);
    }
    updates();
  });
  stream.on("close", () => {
    over = true;
    status.resolve({ code: -1, message: "closed without a status" });
    updates();
  });
  return {
    status: status.promise,
    send(message) {
      const head = Buffer.alloc(5);
      head.writeUInt32BE(message.length, 1);
      stream.write(Buffer.concat([head, message]));
    },
    async next() {
      while (messages.length === 0 && !over) await wake.promise;
      return messages.shift();
    },
    end() {
      stream.end();
    },
  };
}

/** Returns a wire for requests. The responses are read from the call. */
export function requestsOf(call: GrpcCall): Wire {
  return {
    send: (message) => {
      call.send(message);
    },
    take: () => undefined,
  };
}
