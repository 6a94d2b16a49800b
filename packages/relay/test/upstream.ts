import type { ByteStream, ByteStreamHandler } from "@xdstp/core";
import { createMemoryStream, type MemoryStream } from "@xdstp/testing";
import { readRequest } from "@xdstp/recording";

import {
  anyOf,
  encodeResponse,
  type Variant,
  type WireError,
  type WireResource,
} from "../../rollout/test/wire-bytes.ts";

/** One of the streams that a relay has opened. */
export interface UpstreamCall {
  readonly stream: MemoryStream;
  /** Returns the requests that have arrived and were not read yet. */
  requests(): readonly UpstreamRequest[];
  /** Sends a response with a new nonce, and returns the nonce. */
  reply(typeUrl: string, reply: Reply): string;
}

/** A request, and its bytes. */
export interface UpstreamRequest extends ReturnType<typeof readRequest> {
  readonly bytes: Uint8Array;
}

/** A response. Absent members are empty. */
export interface Reply {
  /** Default: the nonce. */
  readonly version?: string;
  readonly resources?: readonly (
    | WireResource
    | {
        readonly name: string;
        readonly text: string;
        readonly version?: string;
        readonly ttlMs?: number;
      }
  )[];
  readonly removed?: readonly string[];
  readonly errors?: readonly WireError[];
  /** For SotW only. */
  readonly canary?: boolean;
}

/**
 * A management server that the test plays, in either variant. It sends only what the test sends.
 */
export interface Upstream extends UpstreamCall {
  readonly connect: (handler: ByteStreamHandler) => ByteStream;
  /**
   * All streams that were opened, in order. The members of this object itself belong to the newest
   * one.
   */
  readonly calls: readonly UpstreamCall[];
  /** True while it is unreachable. */
  down: boolean;
  /** Ends the newest stream, and makes the server unreachable. */
  die(): void;
}

/** Creates an upstream without connections. */
export function createUpstream(variant: Variant): Upstream {
  const calls: UpstreamCall[] = [];
  const newest = (): UpstreamCall => {
    const call = calls.at(-1);
    if (call === undefined) throw new Error("a stream was expected, and none was opened");
    return call;
  };
  return {
    calls,
    down: false,
    get stream() {
      return newest().stream;
    },
    connect(handler) {
      const holder: { out?: ByteStream } = {};
      calls.push(
        callOn(
          variant,
          createMemoryStream((out) => {
            holder.out = out;
            return handler;
          }),
        ),
      );
      if (holder.out === undefined) throw new Error("the stream has no end");
      return holder.out;
    },
    requests: () => (calls.length === 0 ? [] : newest().requests()),
    reply: (typeUrl, reply) => newest().reply(typeUrl, reply),
    die() {
      this.down = true;
      newest().stream.cancel({ code: 14, message: "the server is down" });
    },
  };
}

let nonces = 0;

function callOn(variant: Variant, stream: MemoryStream): UpstreamCall {
  return {
    stream,
    requests() {
      const requests: UpstreamRequest[] = [];
      for (let bytes = stream.take(); bytes !== undefined; bytes = stream.take())
        requests.push({ ...readRequest(variant, bytes), bytes });
      return requests;
    },
    reply(typeUrl, { resources = [], removed = [], errors = [], ...rest }) {
      const nonce = `up${++nonces}`;
      const { version = nonce, canary = false } = rest;
      stream.send(
        encodeResponse(variant, {
          typeUrl,
          nonce,
          version,
          removed,
          errors,
          canary,
          resources: resources.map((given) =>
            "text" in given ? textResource(typeUrl, { version, ...given }) : given,
          ),
        }),
      );
      return nonce;
    },
  };
}

function textResource(
  typeUrl: string,
  { text, ...rest }: { readonly name: string; readonly version: string; readonly text: string },
): WireResource {
  return { ...rest, any: anyOf(typeUrl, Buffer.from(text)) };
}
