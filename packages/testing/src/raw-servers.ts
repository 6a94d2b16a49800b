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

/**
 * A server that the test plays: it accepts the streams of a client, reads requests and sends
 * responses one by one. It never answers by itself.
 */
export interface RawServer<Variant extends keyof RawMessages> {
  /** Returns the oldest request that was not read yet. Throws if there is none. */
  next(): RawMessages[Variant]["request"];
  /** Returns all requests that were not read yet, or an empty list. */
  rest(): readonly RawMessages[Variant]["request"][];
  /** The function with which a client opens its streams. */
  readonly connect: (handler: ByteStreamHandler) => ByteStream;
  /** The number of streams that were opened. */
  readonly streams: number;
  /** True while a stream is open. */
  readonly connected: boolean;
  /** True while the client has paused reading on the newest stream (C-ACK-13). */
  readonly paused: boolean;
  /** The status with which the newest stream ended. `undefined` while it is open. */
  readonly closed: Status | undefined;
  /** Sends a response unchanged. */
  send(response: RawMessages[Variant]["responseInit"]): void;
  /** Sends bytes unchanged. */
  sendBytes(bytes: Uint8Array): void;
  /** Ends the newest stream. Default: UNAVAILABLE. */
  close(status?: Status): void;
  /** From now on a new stream stays in the state opening until `reach`. */
  delay(): void;
  /** Reports to the client that the server is reached. */
  reach(): void;
  /** Fills the wire of the newest stream: the client has to wait. */
  fill(): void;
  /** Empties the wire. */
  drain(): void;
}

/** Decodes requests and encodes responses of a variant. */
interface ServerCodec<Variant extends keyof RawMessages> {
  /** Decodes a request. */
  decode(bytes: Uint8Array): RawMessages[Variant]["request"];
  /** Encodes a response. */
  encode(response: RawMessages[Variant]["responseInit"]): Uint8Array;
}

const AWAY: Status = { code: 14, message: "the server is down" };

/** Creates a server that sends only what the test says. */
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

/** Creates a delta server that sends only what the test says. */
export function createRawDeltaServer(): RawServer<"delta"> {
  return createRawServer<"delta">({
    decode: (bytes) => fromBinary(DeltaDiscoveryRequestSchema, bytes),
    encode: (response) =>
      toBinary(DeltaDiscoveryResponseSchema, create(DeltaDiscoveryResponseSchema, response)),
  });
}

/** Creates a SotW server that sends only what the test says. */
export function createRawSotwServer(): RawServer<"sotw"> {
  return createRawServer<"sotw">({
    decode: (bytes) => fromBinary(DiscoveryRequestSchema, bytes),
    encode: (response) =>
      toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, response)),
  });
}
