import { fromBinary } from "@bufbuild/protobuf";
import { type Cache, createCache } from "@xdstp/cache";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import { createFakeClock, type FakeClock } from "@xdstp/testing";
import { onTestFinished } from "vitest";

import type { FetchLike } from "../src/client/index.ts";

import {
  createHttpHandler,
  type HttpAnswer,
  type HttpHandler,
  type HttpHandlerOptions,
} from "../src/server/index.ts";

export const authority = "config.example";
export const type = "envoy.config.cluster.v3.Cluster";

/** The name of the cluster with an id, as the tests use it. */
export function nameOf(id: string): string {
  return `xdstp://${authority}/${type}/${id}`;
}

/** An answer, read. */
export interface TestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The seconds of the cluster in the body, which tell its states apart; -1: there is none. */
  readonly seconds: number;
}

/** A request, with defaults for what a test does not care about. */
export interface TestRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly host?: string;
}

export interface Http {
  readonly cache: Cache;
  readonly clock: FakeClock;
  readonly handler: HttpHandler;
  /** Puts a cluster; the seconds tell its states apart. */
  readonly put: (name: string, seconds: number, options?: PutOptions) => void;
  readonly remove: (name: string) => void;
  /** Sends a request for a target. */
  readonly get: (target: string, request?: TestRequest) => Promise<TestAnswer>;
  /** Sends a request whose answer is not read. */
  readonly send: (target: string, request?: TestRequest) => Promise<HttpAnswer>;
}

/** The options with which a test puts a resource. */
export interface PutOptions {
  readonly version?: string;
  readonly ttlMs?: number;
  readonly noStore?: boolean;
}

/** A cache with a handler over it, on a clock of the test. */
export function useHttp(options: Partial<HttpHandlerOptions> = {}): Http {
  const clock = createFakeClock();
  const cache = createCache({ types: envoyTypes, clock });
  cache.transaction(() => undefined);
  const handler = createHttpHandler({
    source: cache,
    registry: envoyRegistry(),
    clock,
    ...options,
  });
  onTestFinished(() => {
    handler.close();
  });
  const send: Http["send"] = async (
    target,
    { method = "GET", headers = {}, signal = new AbortController().signal, host = authority } = {},
  ) =>
    handler.handle({
      method,
      target,
      host,
      header: (name) => headers[name],
      peer: "10.0.0.1:5000",
      signal,
    });
  return {
    cache,
    clock,
    handler,
    send,
    put(name, seconds, put = {}) {
      cache.put(clusters, { name, connectTimeout: { seconds: BigInt(seconds) } }, put);
    },
    remove(name) {
      cache.remove(clusters.typeUrl, name);
    },
    get: async (target, request) => readAnswer(await send(target, request)),
  };
}

/** Reads an answer that is not an event stream. */
export function readAnswer({ status, headers, body }: HttpAnswer): TestAnswer {
  if (body !== undefined && !(body instanceof Uint8Array)) throw new Error("an event stream");
  const text = new TextDecoder().decode(body);
  const isProtobuf = headers["content-type"] === "application/x-protobuf";
  return {
    status,
    headers,
    text,
    seconds: status !== 200 || body === undefined ? -1 : secondsIn(isProtobuf ? body : text),
  };
}

function secondsIn(body: Uint8Array | string): number {
  if (typeof body !== "string") return secondsOf(body);
  return Number(/connectTimeout"?: ?"?(\d+)s/.exec(body)?.[1] ?? -1);
}

/** Returns the seconds of an encoded cluster. */
export function secondsOf(value: Uint8Array): number {
  return Number(fromBinary(ClusterSchema, value).connectTimeout?.seconds ?? -1n);
}

/** Lets all work pass that is due without a clock. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

/** Answers a request in place of a network. */
export type Intercept = (url: URL, init: Parameters<FetchLike>[1]) => Response | undefined;

/** A `fetch` that sends its requests to a handler, by the host of the URL. */
export interface TestNetwork {
  readonly fetch: FetchLike;
  /** The URLs that were requested, without their query of the transport. */
  readonly requested: string[];
  /** The header `last-event-id` of each of them; null: it has none. */
  readonly lastIds: (string | null)[];
  /** Set it to answer requests without the server. */
  intercept: Intercept | undefined;
  /** Breaks all event streams that are open. */
  readonly breakStreams: () => void;
  /** Ends all event streams that are open. */
  readonly endStreams: () => void;
  /** Lets nothing more through on the event streams that are open. */
  readonly stall: () => void;
}

/** An event stream on its way, and what happens to it. */
type StreamFate = "flows" | "broken" | "ended" | "stalled";

/** Creates a network in front of a handler. */
export function useFetch(http: Http): TestNetwork {
  const requested: string[] = [];
  const streams = new Set<(fate: StreamFate) => void>();
  const decide = (fate: StreamFate): void => {
    for (const one of streams) one(fate);
    streams.clear();
  };
  const network: TestNetwork = {
    requested,
    lastIds: [],
    intercept: undefined,
    breakStreams: () => {
      decide("broken");
    },
    endStreams: () => {
      decide("ended");
    },
    stall: () => {
      decide("stalled");
    },
    fetch: async (text: string, init: Parameters<FetchLike>[1]) => {
      const url = new URL(text);
      requested.push(`${url.origin}${url.pathname}`);
      network.lastIds.push(init.headers["last-event-id"] ?? null);
      const { intercept } = network;
      const left = new AbortController();
      const signal = AbortSignal.any([init.signal, left.signal]);
      const own = intercept?.(url, init);
      if (own !== undefined) return own;
      const { status, headers, body } = await http.send(`${url.pathname}${url.search}`, {
        headers: init.headers,
        signal,
        host: url.host,
      });
      init.signal.throwIfAborted();
      if (body instanceof Uint8Array)
        return new Response(new Uint8Array(body), { status, headers });
      if (body === undefined) return new Response(null, { status, headers });
      return new Response(
        streamOf(body, (leave) => {
          streams.add((fate) => {
            leave(fate);
            left.abort();
          });
        }),
        { status, headers },
      );
    },
  };
  return network;
}

/** The parts of a body as a stream. `onOpen` receives a function that decides what becomes of it. */
function streamOf(
  parts: AsyncIterable<Uint8Array>,
  onOpen: (leave: (fate: StreamFate) => void) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let fate: StreamFate = "flows";
  return new ReadableStream({
    async start(controller) {
      onOpen((next) => {
        fate = next;
        if (next === "broken") controller.error(new Error("ECONNRESET"));
        if (next === "ended") controller.close();
      });
      for await (const part of parts)
        if (fate === "flows") controller.enqueue(new Uint8Array(part));
      if (fate === "flows") controller.close();
    },
  });
}
