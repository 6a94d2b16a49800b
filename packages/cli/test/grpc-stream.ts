import { once } from "node:events";
import { type ClientHttp2Session, connect, type SecureClientSessionOptions } from "node:http2";
import { createRawDeltaClient, type RawClient } from "@xdstp/testing";

/** A delta ADS stream, whose client acknowledges only what the test tells it to. */
export interface DeltaStream extends RawClient<"delta"> {
  /** Resolves when `next()` can return a response, or when the stream has ended. */
  arrived(): Promise<void>;
  /** The gRPC status with which the stream has ended; -1 if it ended without one. */
  readonly status: Promise<number>;
  /** Stops reading. Further data stays at the server when the HTTP/2 windows are full. */
  pause(): void;
  close(): void;
}

const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

/** Connects to a server on this machine. With TLS, the host name is `localhost`. */
export async function openDeltaStream(
  port: number,
  node: string,
  tls?: SecureClientSessionOptions,
  userAgentName = "",
): Promise<DeltaStream> {
  const session =
    tls === undefined
      ? connect(`http://127.0.0.1:${port}`)
      : connect(`https://localhost:${port}`, tls);
  await once(session, "connect");
  return streamOf(session, node, userAgentName);
}

function streamOf(session: ClientHttp2Session, node: string, userAgentName: string): DeltaStream {
  const call = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
  });
  const messages: Uint8Array[] = [];
  let rest = Buffer.alloc(0);
  let wake: () => void = () => undefined;
  let isOver = false;
  const status = new Promise<number>((resolve) => {
    for (const name of ["response", "trailers"])
      call.on(name, (headers: Record<string, string>) => {
        if (headers["grpc-status"] !== undefined) resolve(Number(headers["grpc-status"]));
      });
    call.on("close", () => {
      isOver = true;
      resolve(-1);
      wake();
    });
  });
  call.on("error", () => undefined);
  call.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1);
      messages.push(Uint8Array.from(rest.subarray(5, end)));
      rest = rest.subarray(end);
    }
    wake();
  });
  const send = (message: Uint8Array): void => {
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    call.write(Buffer.concat([head, message]));
  };
  return {
    ...createRawDeltaClient(
      { send, take: () => messages.shift() },
      { node: { id: node, userAgentName } },
    ),
    async arrived() {
      while (messages.length === 0 && !isOver)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    },
    status,
    pause: () => {
      call.pause();
    },
    close: () => {
      session.destroy();
    },
  };
}
