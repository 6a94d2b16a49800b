import type { Registry } from "@bufbuild/protobuf";
import {
  type ByteStream,
  type ByteStreamHandler,
  type Clock,
  systemClock,
  XdsError,
} from "@xdstp/core";
import { SERVICES, type ServiceRow } from "@xdstp/protos/services";

import type { FetchLike } from "./fetch-like.ts";
import { openPollStream, type PollStream } from "./poll-stream.ts";
import { createPolledVersion, type PolledVersion } from "./polled-version.ts";

/** Options of {@link createRestChannel}. Only `url` is required. */
export interface RestChannelOptions {
  /** The server: `http://host:port` or `https://host`. A path in it comes before those of the types. */
  readonly url: string;
  /** Milliseconds between two polls that do not wait; up to as many again are added at random (C-REST-6). Default 5,000. */
  readonly refreshMs?: number;
  /**
   * Milliseconds that the server may hold a poll until there is something new. The next poll then
   * follows at once. Default 0: the server answers at once.
   */
  readonly waitMs?: number;
  /** Milliseconds for an answer, in addition to `waitMs` (C-REST-7). Default 1,000. */
  readonly requestTimeoutMs?: number;
  /** The maximum size of an answer in bytes. Default 64 MiB. */
  readonly answerBytes?: number;
  /** Services of your own with a `restPath`, in addition to those of Envoy's API. Default: none. */
  readonly services?: readonly ServiceRow[];
  /** Messages in JSON, with the types of resources. Default: in binary, which needs no types. */
  readonly json?: Registry;
  /** Sends a request, for certificates, proxies and tests. Default: `fetch` of the platform. */
  readonly fetch?: FetchLike;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Returns a number from 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
}

/** A channel to one server, for clients of the SotW variant. */
export interface RestChannel {
  /**
   * Begins a stream of polls. `path` is the SotW method of a service with one type,
   * `/package.Service/StreamX`; REST has no aggregated stream (S-REST-1). `restPath` is the path of
   * the type over HTTP. Default: the path of the service.
   * A poll that fails ends the stream with its reason. The client keeps what it has, and opens the
   * next stream after a pause (C-REST-7).
   * Throws an XdsError: UNIMPLEMENTED for a path without a REST form, FAILED_PRECONDITION after
   * `close`.
   */
  open(
    call: {
      readonly path: string;
      readonly restPath?: string;
      readonly metadata?: Readonly<Record<string, string>>;
    },
    handler: ByteStreamHandler,
  ): ByteStream;
  /** Ends all streams with CANCELLED. */
  close(): void;
}

/**
 * Creates a channel that turns SotW streams into polls (section 24 of the rules).
 * Throws an XdsError, INVALID_ARGUMENT, for a URL that is not one of HTTP.
 */
export function createRestChannel(options: RestChannelOptions): RestChannel {
  const { services = [], clock = systemClock, random = Math.random } = options;
  const base = baseOf(options.url);
  const paths = new Map<string, string>();
  for (const { service, sotw, restPath } of [...SERVICES, ...services])
    if (sotw !== undefined && restPath !== undefined) paths.set(`/${service}/${sotw}`, restPath);
  const open = new Set<PollStream>();
  /** The versions of the clients that have no stream now, by path. */
  const versions = new Map<string, PolledVersion>();
  let isClosed = false;
  return {
    open({ path, metadata = {}, ...call }, handler) {
      if (isClosed) throw new XdsError("FAILED_PRECONDITION", "the channel is closed");
      const restPath = call.restPath ?? paths.get(path);
      if (restPath === undefined)
        throw new XdsError(
          "UNIMPLEMENTED",
          `${path} has no form in REST: use a service with one type, in SotW`,
          { rule: "S-REST-1" },
        );
      const version = versions.get(restPath) ?? createPolledVersion();
      versions.delete(restPath);
      const stream = openPollStream(handler, {
        version,
        url: `${base}${restPath}`,
        metadata,
        refreshMs: options.refreshMs ?? 5_000,
        waitMs: options.waitMs ?? 0,
        requestTimeoutMs: options.requestTimeoutMs ?? 1_000,
        answerBytes: options.answerBytes ?? 64 * 1024 * 1024,
        json: options.json,
        // The types of some runtimes want a body that no other thread shares.
        fetch:
          options.fetch ??
          (async (url, init) =>
            fetch(url, { ...init, body: init.body as Uint8Array<ArrayBuffer> })),
        clock,
        random,
        onEnd: () => {
          open.delete(stream);
          versions.set(restPath, version);
        },
      });
      open.add(stream);
      return stream;
    },
    close() {
      isClosed = true;
      for (const stream of open) stream.cancel();
    },
  };
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol))
    throw new XdsError(
      "INVALID_ARGUMENT",
      `${JSON.stringify(url)} is not a URL of HTTP; give http://HOST:PORT or https://HOST`,
    );
  return `${parsed.origin}${parsed.pathname.replace(/\/$/, "")}`;
}
