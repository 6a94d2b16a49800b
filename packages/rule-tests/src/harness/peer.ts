import type { RawMessages, MemoryStream } from "@xdstp/testing";
import type { ServerStream } from "@xdstp/protocol/server";
import type { Answer } from "./answer.ts";
import type { TypeClient } from "./type-client.ts";

/** A `Node` as a plain object. */
export type NodeInit = RawMessages["delta"]["requestInit"]["node"];

/** One call, seen from both of its ends. */
export interface OpenStream {
  /** The end of the client. */
  readonly stream: MemoryStream;
  /** The end of the server. */
  readonly server: ServerStream;
}

/** One call of a peer. */
export interface PeerStream extends OpenStream {
  of(typeUrl: string): TypeClient;
  /** Reads all responses that have come, of all types, in the order in which they came. */
  answers(): readonly Answer[];
}

/** A client of one node: on ADS one stream with all its types, else a stream per type. */
export interface Peer {
  of(typeUrl: string): TypeClient;
  /** The stream of a type; on ADS of all. Opens it if it is not open. */
  streamOf(typeUrl: string): OpenStream;
  /** Reads all that has come on all streams; on ADS in the order in which it came. */
  answers(): readonly Answer[];
  /** Ends all its streams. */
  leave(): void;
}

/** A peer whose streams are opened as they are needed. */
export function createPeer(onAds: boolean, open: (typeUrl: string) => PeerStream): Peer {
  const streams = new Map<string, PeerStream>();
  const streamOf = (typeUrl: string): PeerStream => {
    const key = onAds ? "" : typeUrl;
    let stream = streams.get(key);
    if (stream === undefined) streams.set(key, (stream = open(typeUrl)));
    return stream;
  };
  return {
    streamOf,
    of: (typeUrl) => streamOf(typeUrl).of(typeUrl),
    answers: () => [...streams.values()].flatMap((stream) => stream.answers()),
    leave() {
      for (const { stream } of streams.values()) stream.cancel();
    },
  };
}
