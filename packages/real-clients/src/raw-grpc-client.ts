import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { cluster } from "@xdstp/resource-types";
import { createRawDeltaClient, createRawSotwClient } from "@xdstp/testing";

/** The behaviour of a client towards the server. */
export type Manners = "takes all" | "never reads" | "rejects all";

/** A client that asks for all clusters, on a connection of its own. */
export interface RawGrpcClient {
  /** Ends the connection at once, without a word. */
  readonly cut: () => void;
}

/** The events of a client. */
export interface RawGrpcHost {
  /** Each response: the largest number that one of its clusters says. */
  heard(said: number): void;
  /** The stream has ended, and it was not cut by its own client. */
  lost(reason: string): void;
}

const paths = { delta: "DeltaAggregatedResources", sotw: "StreamAggregatedResources" };
const { typeUrl } = cluster;

/** Connects to a server of the loopback and asks. */
export function openRawGrpcClient(
  port: number,
  variant: "delta" | "sotw",
  id: string,
  manners: Manners,
  host: RawGrpcHost,
): RawGrpcClient {
  const session = connect(`http://127.0.0.1:${port}`);
  const stream = session.request(
    {
      ":method": "POST",
      ":path": `/envoy.service.discovery.v3.AggregatedDiscoveryService/${paths[variant]}`,
      "content-type": "application/grpc",
      te: "trailers",
    },
    { endStream: false },
  );
  const end = watchEnd(session, stream, host);
  const wire = createWire(stream);
  const answer = variant === "delta" ? askDelta(wire, id) : askSotw(wire, id);
  if (manners !== "never reads") {
    stream.on("data", (chunk: Buffer) => {
      wire.push(chunk);
      for (const said of answer(manners === "rejects all")) host.heard(said);
    });
  }
  return { cut: end };
}

function watchEnd(
  session: ClientHttp2Session,
  stream: ClientHttp2Stream,
  host: RawGrpcHost,
): () => void {
  let cut = false;
  let reason = "closed";
  session.on("error", (error: Error) => {
    reason = error.message;
  });
  stream.on("error", (error: Error) => {
    reason = error.message;
  });
  stream.on("trailers", (trailers) => {
    reason = JSON.stringify(trailers);
  });
  stream.on("close", () => {
    if (!cut) host.lost(reason);
    session.destroy();
  });
  return () => {
    cut = true;
    session.destroy();
  };
}

interface Wire {
  send(message: Uint8Array): void;
  take(): Uint8Array | undefined;
  push(chunk: Buffer): void;
}

/** Messages behind a byte and their length in four. */
function createWire(stream: ClientHttp2Stream): Wire {
  let unread: Buffer = Buffer.alloc(0);
  return {
    send(message) {
      const head = Buffer.alloc(5);
      head.writeUInt32BE(message.length, 1);
      stream.write(Buffer.concat([head, message]));
    },
    take() {
      const end = unread.length < 5 ? Infinity : 5 + unread.readUInt32BE(1);
      if (unread.length < end) return undefined;
      const message = unread.subarray(5, end);
      unread = unread.subarray(end);
      return message;
    },
    push(chunk) {
      unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    },
  };
}

/** Reads and answers what has come; gives what each response says. */
type Answer = (reject: boolean) => readonly number[];

function askDelta(wire: Wire, id: string): Answer {
  const client = createRawDeltaClient(wire, { node: { id } });
  client.send({ typeUrl, resourceNamesSubscribe: ["*"] });
  return (reject) =>
    client.rest().map((response) => {
      if (reject) client.nack(response, "no");
      else client.ack(response);
      return largest(
        response.resources.flatMap(({ resource }) =>
          resource === undefined ? [] : [resource.value],
        ),
      );
    });
}

function askSotw(wire: Wire, id: string): Answer {
  const client = createRawSotwClient(wire, { node: { id } });
  client.send({ typeUrl, resourceNames: ["*"] });
  return (reject) =>
    client.rest().map((response) => {
      if (reject) client.nack(response, "no");
      else client.ack(response);
      return largest(response.resources.map(({ value }) => value));
    });
}

function largest(payloads: readonly Uint8Array[]): number {
  return Math.max(
    -1,
    ...payloads.map((payload) =>
      Number(/says=(\d+);/.exec(Buffer.from(payload).toString("latin1"))?.[1] ?? -1),
    ),
  );
}
