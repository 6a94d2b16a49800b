import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ByteStream, ByteStreamHandler, Status } from "@xdstp/core";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";

import { createMemoryStream, type MemoryStream } from "./create-memory-stream.ts";
import { createReader, type RawMessages } from "./raw-wire.ts";

/** A server in the hands of the test: accepts the streams of a client, reads requests and sends responses one by one. It never answers by itself. */
export interface RawServer<Variant extends keyof RawMessages> {
  /** The oldest request not read yet. Throws where there is none. */
  next(): RawMessages[Variant]["request"];
  /** All that was not read yet; none is an empty list. */
  rest(): readonly RawMessages[Variant]["request"][];
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
  send(response: RawMessages[Variant]["responseInit"]): void;
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
interface ServerCodec<Variant extends keyof RawMessages> {
  /** A request, decoded. */
  decode(bytes: Uint8Array): RawMessages[Variant]["request"];
  /** A response, encoded. */
  encode(response: RawMessages[Variant]["responseInit"]): Uint8Array;
}

const AWAY: Status = { code: 14, message: "the server is down" };

/** A server for scripts that say each step. */
function createRawServer<Variant extends keyof RawMessages>(
  codec: ServerCodec<Variant>,
): RawServer<Variant> {
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

/** A server of the delta variant for scripts that say each step. */
export function createRawDeltaServer(): RawServer<"delta"> {
  return createRawServer<"delta">({
    decode: (bytes) => fromBinary(DeltaDiscoveryRequestSchema, bytes),
    encode: (response) =>
      toBinary(DeltaDiscoveryResponseSchema, create(DeltaDiscoveryResponseSchema, response)),
  });
}

/** A server of the SotW variant for scripts that say each step. */
export function createRawSotwServer(): RawServer<"sotw"> {
  return createRawServer<"sotw">({
    decode: (bytes) => fromBinary(DiscoveryRequestSchema, bytes),
    encode: (response) =>
      toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, response)),
  });
}
