import type { OutgoingHttpHeaders } from "node:http2";
import { isDeepStrictEqual } from "node:util";
import { readFileSync } from "node:fs";
import {
  StatusCode,
  systemClock,
  XdsError,
  type ByteStream,
  type ByteStreamHandler,
  type Clock,
  type Status,
} from "@xdstp/core";
import {
  type ChannelContext,
  type ChannelEvent,
  type ChannelLimits,
  type Connectivity,
  createChannelContext,
  resolveChannelLimits,
} from "./channel-context.ts";
import { credentialsOf, type ChannelTls } from "./channel-tls.ts";
import { openClientCall, type ClientCall } from "./client-call.ts";
import { requireNode } from "../wire/node-warning.ts";
import { parseTarget } from "./parse-target.ts";
import { createSessions, type Sessions } from "./sessions.ts";

/** Options of {@link createGrpcChannel}. */
export interface GrpcChannelOptions {
  /**
   * The server, as gRPC names it: `host:port` (port 443 if absent), `[::1]:port`,
   * `dns:///host:port`, `unix:path`, `unix:///path`.
   */
  readonly target: string;
  /** Absent: HTTP/2 without TLS. `{}`: TLS with the authorities that Node trusts. */
  readonly tls?: ChannelTls;
  /** The text before `grpc-node-xdstp` in the header `user-agent`. Default: none. */
  readonly userAgent?: string;
  /** See {@link ChannelLimits} for the defaults. */
  readonly limits?: Partial<ChannelLimits>;
  /**
   * The clock for `connectMs` and `closeGraceMs`. Pings use the system clock. Default: the system
   * clock.
   */
  readonly clock?: Clock;
  /** Receives events. Exceptions are ignored. */
  readonly onEvent?: (event: ChannelEvent) => void;
}

/**
 * A channel to one server. All its calls share a connection. It is created with the first call, and
 * again with the first call after it was lost.
 */
export interface GrpcChannel {
  /** The target as it was given. */
  readonly target: string;
  /**
   * Begins a streaming call. While there is no connection, `send` queues messages and returns
   * false; `onDrained` is called when the connection is ready.
   * If the connection fails, the call ends with UNAVAILABLE and the reason. The channel does not
   * retry; the caller does (C-RECON-1).
   * Throws an XdsError: INVALID_ARGUMENT for a path or metadata that cannot be sent,
   * FAILED_PRECONDITION after `close`.
   */
  open(
    call: {
      /** The method to call: `/package.Service/Method`. */
      readonly path: string;
      /** Headers in addition to those of gRPC: names in lower case, values in printable ASCII. */
      readonly metadata?: Readonly<Record<string, string>>;
    },
    handler: ByteStreamHandler,
  ): ByteStream;
  /** Returns the state of the channel. Changes are reported to `onEvent`. */
  connectivity(): Connectivity;
  /**
   * Replaces certificates and name. New calls use a new connection with the new files. Open calls
   * stay on the old connection, which closes after the last of them; to close it sooner, close the
   * calls.
   * Throws an XdsError and changes nothing: INVALID_ARGUMENT for an invalid part,
   * FAILED_PRECONDITION if this channel has no TLS or is closed.
   */
  replaceTls(tls: ChannelTls): void;
  /**
   * Ends all calls in order, with CANCELLED for their handlers, then the connection. Resolves when
   * everything is closed. A second call returns the same promise.
   */
  close(): Promise<void>;
  /** The same as `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Creates a channel to a gRPC server over HTTP/2, with or without TLS. It does not interpret
 * messages.
 *
 * Connect's session manager opens, shares and pings the connections. The server is not trusted: a
 * server's error ends its call or its connection, never the process (C-LIM-7). No compression
 * is offered.
 * Throws an XdsError if the target, a limit or a certificate is invalid, or Node is older than 22.
 */
export function createGrpcChannel(options: GrpcChannelOptions): GrpcChannel {
  requireNode(process.versions.node);
  return new Channel(options);
}

const closed: Status = { code: StatusCode.CANCELLED, message: "the channel was closed" };

class Channel implements GrpcChannel {
  readonly target: string;
  readonly #context: ChannelContext;
  readonly #headers: OutgoingHttpHeaders;
  readonly #secure: boolean;
  /** Each open call, with a function that is called at its end. */
  readonly #calls = new Map<ClientCall, () => void>();
  /** Connections with old certificates that still have calls. */
  readonly #draining = new Set<Promise<void>>();
  #sessions: Sessions;
  #connectivity: Connectivity = { state: "idle" };
  #closing: Promise<void> | undefined;

  constructor({
    target,
    tls,
    userAgent,
    limits,
    clock = systemClock,
    onEvent,
  }: GrpcChannelOptions) {
    this.target = target;
    this.#context = createChannelContext(
      { target: parseTarget(target), limits: resolveChannelLimits(limits), clock },
      onEvent,
    );
    this.#secure = tls !== undefined;
    this.#headers = sharedHeaders(this.#context.target.authority, this.#secure, userAgent);
    this.#sessions = this.#connectWith(tls);
  }

  connectivity(): Connectivity {
    return this.#connectivity;
  }

  open(
    { path, metadata }: Parameters<GrpcChannel["open"]>[0],
    handler: ByteStreamHandler,
  ): ByteStream {
    this.#mustBeOpen();
    const headers = { ...this.#headers, ...checkedMetadata(path, metadata) };
    const place = {
      context: this.#context,
      sessions: this.#sessions,
      closed: () => {
        this.#left(call);
      },
    };
    const call = openClientCall(place, path, headers, handler);
    this.#calls.set(call, ignoreEnd);
    return call;
  }

  replaceTls(tls: ChannelTls): void {
    this.#mustBeOpen();
    if (!this.#secure)
      throw new XdsError(
        "FAILED_PRECONDITION",
        `the channel to ${this.target} has no TLS; create another one with the option tls`,
      );
    const old = this.#sessions;
    this.#sessions = this.#connectWith(tls);
    const drained = old.retire().then(() => {
      this.#draining.delete(drained);
    });
    this.#draining.add(drained);
    this.#become({ state: "idle" });
  }

  async close(): Promise<void> {
    this.#become({ state: "shutdown" });
    this.#closing ??= this.#end();
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #end(): Promise<void> {
    const ends = [...this.#calls.keys()].map(async (call) => {
      const over = new Promise<void>((resolve) => {
        this.#calls.set(call, resolve);
      });
      call.leave(closed);
      await over;
    });
    await Promise.all(ends);
    await Promise.all([...this.#draining, this.#sessions.abort()]);
  }

  #connectWith(tls: ChannelTls | undefined): Sessions {
    const become = (next: Connectivity): void => {
      if (sessions === this.#sessions) this.#become(next);
    };
    const sessions: Sessions = createSessions(
      this.#context,
      tls === undefined ? undefined : credentialsOf(tls),
      {
        onConnecting: () => {
          become({ state: "connecting" });
        },
        onReady: () => {
          become({ state: "ready" });
        },
        onLost: (status) => {
          become(status === undefined ? { state: "idle" } : { state: "transient-failure", status });
        },
      },
    );
    return sessions;
  }

  /**
   * Reports a state in a microtask, since a listener may close the channel, which must not happen
   * in the middle of connecting.
   */
  #become(next: Connectivity): void {
    if (this.#connectivity.state === "shutdown" || isDeepStrictEqual(this.#connectivity, next))
      return;
    this.#connectivity = next;
    queueMicrotask(() => {
      this.#context.emit({ kind: "connectivity", connectivity: next });
    });
  }

  #left(call: ClientCall): void {
    const waiting = this.#calls.get(call);
    this.#calls.delete(call);
    waiting?.();
  }

  #mustBeOpen(): void {
    if (this.#closing !== undefined)
      throw new XdsError(
        "FAILED_PRECONDITION",
        `the channel to ${this.target} is closed; create another one`,
      );
  }
}

function ignoreEnd(): void {
  /** no caller waits for the end */
}

/** Returns the headers that all calls of a channel have. No compression is offered. */
function sharedHeaders(
  authority: string,
  secure: boolean,
  userAgent?: string,
): OutgoingHttpHeaders {
  return {
    ":authority": authority,
    ":scheme": secure ? "https" : "http",
    "content-type": "application/grpc+proto",
    te: "trailers",
    "user-agent": userAgentOf(userAgent),
  };
}

const reserved =
  /^(?:grpc-.*|content-type|te|user-agent|connection|host|transfer-encoding|upgrade|keep-alive|proxy-connection|http2-settings)$/;

/**
 * Returns the metadata of a call. Throws an XdsError, INVALID_ARGUMENT, for an invalid path or
 * name. The error never contains a value, which may be secret.
 */
function checkedMetadata(
  path: string,
  metadata: Readonly<Record<string, string>> = {},
): OutgoingHttpHeaders {
  if (!/^\/[\w.]+\/\w+$/.test(path))
    throw new XdsError(
      "INVALID_ARGUMENT",
      `the path ${JSON.stringify(path)} is not /package.Service/Method`,
    );
  for (const [name, value] of Object.entries(metadata)) {
    if (!/^[0-9a-z_.-]+$/.test(name))
      throw new XdsError(
        "INVALID_ARGUMENT",
        `metadata has the name ${JSON.stringify(name)}; use lower case letters, digits and -_.`,
      );
    if (reserved.test(name))
      throw new XdsError(
        "INVALID_ARGUMENT",
        `metadata has the name ${name}, which belongs to gRPC`,
      );
    if (!/^[ -~]*$/.test(value))
      throw new XdsError("INVALID_ARGUMENT", `metadata ${name} holds more than printable ASCII`);
  }
  return { ...metadata };
}

/** Returns the user agent of a client in the format of gRPC, after the user agent of its program. */
function userAgentOf(program?: string): string {
  return `${program === undefined ? "" : `${program} `}grpc-node-xdstp${version()}`;
}

/** Returns `/VERSION` of this package. Empty if a bundler has not included the manifest. */
function version(): string {
  try {
    return `/${(JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { readonly version: string }).version}`;
  } catch {
    return "";
  }
}
