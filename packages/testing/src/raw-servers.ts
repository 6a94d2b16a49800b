import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { ByteStream, ByteStreamHandler, Status } from "@xdstp/core";
import {
  type DeltaDiscoveryRequest,
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";

import { createMemoryStream, type MemoryStream } from "./create-memory-stream.ts";
import { createReader, type Reader } from "./raw-wire.ts";

/** A server in the hands of the test: accepts the streams of a client, reads requests and sends responses one by one. It never answers by itself. */
export interface RawServer<Request, ResponseInit> extends Reader<Request> {
  /** The function that a client opens its streams with. */
  readonly connect: (handler: ByteStreamHandler) => ByteStream;
  /** Streams opened so far. */
  readonly streams: number;
  /** There is an open stream. */
  readonly connected: boolean;
  /** The client reads no more on the newest stream (C-ACK-13). */
  readonly paused: boolean;
  /** How the newest stream ended; undefined while it lasts. */
  readonly closed: Status | undefined;
  /** Sends a response as it is. */
  send(response: ResponseInit): void;
  /** Sends bytes as they are. */
  sendBytes(bytes: Uint8Array): void;
  /** Ends the newest stream. Default: UNAVAILABLE. */
  close(status?: Status): void;
  /** From now on a new stream is opening until `reach`. */
  delay(): void;
  /** The client has reached the server. */
  reach(): void;
  /** Fills the wire of the newest stream: the client has to wait. */
  fill(): void;
  /** Empties it. */
  drain(): void;
}

/** How a variant is written on the wire. */
interface ServerCodec<Request, ResponseInit> {
  /** A request, decoded. */
  decode(bytes: Uint8Array): Request;
  /** A response, encoded. */
  encode(response: ResponseInit): Uint8Array;
}

const AWAY: Status = { code: 14, message: "the server is down" };

/** A server for scripts that say each step. */
function createRawServer<Request, ResponseInit>(
  codec: ServerCodec<Request, ResponseInit>,
): RawServer<Request, ResponseInit> {
  let newest: MemoryStream | undefined;
  let handler: ByteStreamHandler | undefined;
  let streams = 0;
  let opening = false;
  const stream = (): MemoryStream => {
    if (newest === undefined) throw new Error("a stream was expected, and none was opened");
    return newest;
  };
  return {
    connect(given) {
      const holder: { out?: ByteStream } = {};
      handler = given;
      streams++;
      newest = createMemoryStream((out) => {
        holder.out = opening ? { ...out, opening: true } : out;
        return given;
      });
      return holder.out ?? { send: () => true, close: () => undefined };
    },
    ...createReader({ take: () => newest?.take() }, (bytes) => codec.decode(bytes)),
    get streams() {
      return streams;
    },
    get connected() {
      return newest !== undefined && newest.closed === undefined;
    },
    get paused() {
      return stream().paused;
    },
    get closed() {
      return newest?.closed;
    },
    send(response) {
      stream().send(codec.encode(response));
    },
    sendBytes(bytes) {
      stream().send(bytes);
    },
    close(status = AWAY) {
      stream().cancel(status);
    },
    delay() {
      opening = true;
    },
    reach() {
      opening = false;
      handler?.onOpened?.();
    },
    fill() {
      stream().fill();
    },
    drain() {
      stream().drain();
    },
  };
}

/** A delta response as a plain object: what is left out is not sent. */
export type DeltaResponseInit = Omit<
  MessageInitShape<typeof DeltaDiscoveryResponseSchema>,
  "$typeName"
>;

/** Sends and reads single messages of the delta variant. */
export type RawDeltaServer = RawServer<DeltaDiscoveryRequest, DeltaResponseInit>;

/** A server of the delta variant for scripts that say each step. */
export function createRawDeltaServer(): RawDeltaServer {
  return createRawServer({
    decode: (bytes) => fromBinary(DeltaDiscoveryRequestSchema, bytes),
    encode: (response: DeltaResponseInit) =>
      toBinary(DeltaDiscoveryResponseSchema, create(DeltaDiscoveryResponseSchema, response)),
  });
}

/** A SotW response as a plain object: what is left out is not sent. */
export type SotwResponseInit = Omit<MessageInitShape<typeof DiscoveryResponseSchema>, "$typeName">;

/** Sends and reads single messages of the SotW variant. */
export type RawSotwServer = RawServer<DiscoveryRequest, SotwResponseInit>;

/** A server of the SotW variant for scripts that say each step. */
export function createRawSotwServer(): RawSotwServer {
  return createRawServer({
    decode: (bytes) => fromBinary(DiscoveryRequestSchema, bytes),
    encode: (response: SotwResponseInit) =>
      toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, response)),
  });
}
