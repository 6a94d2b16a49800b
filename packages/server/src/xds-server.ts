import type { MessageInitShape, Registry } from "@bufbuild/protobuf";
import type { Meter, Tracer } from "@opentelemetry/api";
import type {
  ByteStream,
  ByteStreamHandler,
  Clock,
  NodeInfo,
  PeerIdentity,
  ResourceSource,
  Status,
} from "@xdstp/core";
import type {
  CallPeer,
  ConnectionAge,
  GrpcStats,
  HttpListener,
  MethodRouter,
  TlsOptions,
} from "@xdstp/grpc/server";
import type {
  FrameCounters,
  LimitCounts,
  ListeningSource,
  Quirk,
  Scheduler,
  StreamStatus,
} from "@xdstp/protocol/server";
import type { DiscoveryRequestSchema, DiscoveryResponse } from "@xdstp/protos/discovery";
import type { ServiceRow } from "@xdstp/protos/services";
import type { ClientStatusRequestSchema, ClientStatusResponse } from "@xdstp/protos/status";

import type { Authorize, Peer } from "./access/authorize.ts";
import type { ViewCaller } from "./access/view-caller.ts";
import type { AckReport } from "./ack-wait.ts";
import type { Explanation, ExplainQuestion, OriginOf } from "./explain/explanation.ts";
import type { Health } from "./server-facts.ts";
import type { ServedResource } from "./served-resources.ts";
import type { ServerEvent } from "./server-event.ts";
import type { ServerLimits } from "./server-limits.ts";

/** Options of {@link createServer}. Only `source` is required. */
export interface ServerOptions {
  /**
   * The source that is served: a cache, or a filter over one. It has the resource types; types that
   * it does not describe are served too.
   */
  readonly source: ListeningSource;
  /**
   * The services that the server offers. Default: ADS and every service of one type of Envoy's API.
   * A row adds a service of your own. A type of your own needs no row for ADS.
   */
  readonly services?: readonly ServiceRow[];
  /**
   * The certificate and the key, and whether clients have to present a certificate. Absent: no TLS.
   */
  readonly tls?: TlsOptions;
  /**
   * Serve requests that are not gRPC, over HTTP/2 and HTTP/1.1 on the same port; each is asked in
   * turn, see `HttpListener`. The limits `wire` and the certificates hold for these too. To
   * serve REST: `http: [(...request) => rest(...request)]`, with `rest` made by `createRestRoute`
   * of `@xdstp/transport-rest/server` from this server's `accept`. Default: none, so that HTTP/1.1
   * is rejected.
   */
  readonly http?: readonly HttpListener[];
  /**
   * Closes connections at this age, spread at random, so that clients are distributed over the
   * replicas again (S-STREAM-13). Absent: never.
   */
  readonly connectionAge?: ConnectionAge;
  /**
   * Limits that replace those of {@link defaultServerLimits}, in the groups `stream`, `admission`,
   * `access`, `answers` and `wire`: `{ stream: { subscriptions: 5_000 } }`.
   */
  readonly limits?: { readonly [Group in keyof ServerLimits]?: Partial<ServerLimits[Group]> };
  /**
   * Decides what each client may see. Absent: every client sees everything. A node id is a claim,
   * not an identity: decide by `peer.identity`, which needs `tls.clientCa` (S-NODE-8).
   * The stream is not read before the decision. With `authorize`, client status shows each caller
   * the clients with an equal policy and the same source.
   */
  readonly authorize?: Authorize;
  /**
   * Chooses the source of each client: a view for its node, or `undefined` for `source`. Called
   * after `authorize`, within the same time limit; an exception rejects the stream. Revisions of
   * `waitForAck` are those of `source`, so clients of unrelated sources are not waited for. Client
   * status shows each caller the clients of the same source, so return the same object for clients
   * that belong together. Absent: `source` for all clients.
   */
  readonly sourceFor?: ((
    peer: Peer,
    options: { readonly signal: AbortSignal },
  ) => ResourceSource | undefined | Promise<ResourceSource | undefined>) & {
    /**
     * True if every source that it returns is ready when the source of the server is. Then new
     * streams are rejected at once until that is ready (S-STREAM-9). Default: false; then readiness
     * is checked after a source was chosen.
     */
    readonly viewsOnly?: boolean;
  };
  /**
   * The special handling of single clients. Default: {@link clientQuirks}; add rows of your own
   * after these.
   */
  readonly quirks?: readonly Quirk[];
  /**
   * `control_plane.identifier` of each response, for display (B-NODE-9). Default: `xdstp`. Empty:
   * none.
   */
  readonly controlPlane?: string;
  /**
   * Offers client status (CSDS): what every client was sent, accepted and rejected, with the
   * resources (B-CSDS-1). Default: true, for every caller that reaches the port.
   * A function decides for each request, by address and verified identity, whether the caller may
   * read it; if it throws, the caller gets INTERNAL. Secrets in resources are hidden (B-CSDS-7).
   */
  readonly clientStatus?: boolean | ((peer: CallPeer) => boolean | Promise<boolean>);
  /**
   * Adds further methods, served through Connect next to Fetch and client status; for example the
   * client status of a program's own clients instead of that of this server. Default: none.
   */
  readonly routes?: (router: MethodRouter) => void;
  /**
   * Returns the health of what is served. Called for each status request of a caller that may see
   * all clients. Default: unknown.
   */
  readonly health?: () => readonly Health[];
  /**
   * Returns the origin of a resource, for {@link XdsServer.explain}: a file, a server. Only callers
   * that may see all clients are shown it. Default: unknown.
   */
  readonly originOf?: OriginOf;
  /**
   * The types whose resources client status shows. A resource that cannot be searched for secrets
   * is not shown. Default: Envoy's API.
   */
  readonly registry?: Registry;
  /**
   * A meter of the OpenTelemetry API, or the part of one that is used, for metrics of the server.
   * Default: none.
   */
  readonly meter?: MetricsMeter;
  /**
   * A tracer of the OpenTelemetry API: each change becomes a span, from its commit to the last
   * answer. Each change then checks every stream. Default: none.
   */
  readonly tracer?: Pick<Tracer, "startSpan">;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Default: a scheduler with slices of 256 streams per turn of the event loop. */
  readonly scheduler?: Scheduler;
  /**
   * The version of Node. Below the versions with known security fixes, the server reports an event
   * `warning` and serves as usual. Default: the version of this process.
   */
  readonly nodeVersion?: string;
  /**
   * Returns all resources that are served, for a status request that lists them (`xdstp plan` does
   * this) and whose caller may see all clients. With `createNodeCaches` it is
   * `nodes.serving.resources`. Default: they are not listed.
   */
  readonly resources?: () => Iterable<ServedResource>;
  /**
   * The first listener; see {@link XdsServer.events}. Events have live state: to print one, use
   * {@link logLine}.
   */
  readonly onEvent?: (event: ServerEvent) => void;
}

/** The counters of a server. */
export interface ServerStats {
  /** Connections, streams and messages, and those that were cut. */
  readonly wire: GrpcStats;
  /** The numbers of responses that were encoded, shared, and copied with a new nonce. */
  readonly frames: Readonly<FrameCounters>;
  /** Streams that begin, or that had to wait before they began. */
  readonly admission: {
    /** The number of streams in their first sync. */
    readonly syncing: number;
    /** The number of streams that wait for their first sync. */
    readonly waiting: number;
    /** The number of streams that had to wait, including those that were rejected. */
    readonly waited: number;
    /** The number of streams that had to wait and were rejected. */
    readonly rejected: number;
  };
  /** Status requests and Fetches that are being answered, that wait, and that were rejected. */
  readonly answers: Readonly<
    Record<
      "status" | "fetch",
      {
        /** The number of answers that are being created. */
        readonly answering: number;
        /** The number of calls that wait for their answer. */
        readonly waiting: number;
        /** The number of calls that were rejected because too many waited. */
        readonly rejected: number;
      }
    >
  >;
  /**
   * The number of times that each limit of the streams was reached, by name. A limit that was never
   * reached is absent.
   */
  readonly limits: LimitCounts["counts"];
}

/** An xDS management server. */
export interface XdsServer extends AsyncDisposable {
  /**
   * Opens the port, once: gRPC over HTTP/2, with TLS if the option is given. `host` is 127.0.0.1 by
   * default. Port 0 selects a free port; the result has the number.
   * With `path`: opens a socket at a path of the file system, where no file may exist, for clients
   * of the target `unix:PATH`. Then `host` of the result is that target, and `port` is 0.
   * Rejects with an XdsError that names the address: UNAVAILABLE if the system rejects it,
   * FAILED_PRECONDITION if this server already listens or is closed.
   */
  listen(
    where: { readonly host?: string; readonly port: number } | { readonly path: string },
  ): Promise<{
    /** The address on which the server listens. */
    readonly host: string;
    /** The port on which it listens. */
    readonly port: number;
  }>;
  /**
   * Shuts down in order (S-STREAM-13): accepts no new streams, sends responses that are due, then
   * ends each stream with OK.
   * With `spreadMs`, all clients receive GOAWAY at once and are still served. The streams of each
   * connection end with UNAVAILABLE at a random time within `spreadMs`, so that the clients of a
   * large server do not all reconnect at once. Data that a client has not read after `graceMs`
   * milliseconds (default 5,000) are dropped.
   * Resolves when everything is closed. A second call returns the same promise.
   */
  close(options?: { readonly graceMs?: number; readonly spreadMs?: number }): Promise<void>;
  /**
   * Replaces certificate, key and authorities for new connections; open ones stay.
   * Throws an XdsError and changes nothing: INVALID_ARGUMENT for invalid options,
   * FAILED_PRECONDITION if the server has no TLS, or if it would begin or stop to require client
   * certificates.
   */
  setTls(tls: TlsOptions): void;
  /**
   * Returns a row per open stream, with a row per type: what was sent, accepted, rejected and why
   * (S-ACK-9).
   */
  status(): readonly StreamStatus[];
  /**
   * Serves one streaming call without I/O, for other wires and for tests. Returns a handler, or the
   * status that rejects the call.
   * @param path - The gRPC method, `/package.Service/Method`; it selects the variant (B-STREAM-1)
   * @param peer - The address of the client, for display
   * @param identity - The identity of the client, as its wire has verified it
   */
  accept(
    path: string,
    peer: string,
    out: ByteStream,
    identity?: PeerIdentity,
  ): ByteStreamHandler | Status;
  /**
   * Answers one Fetch without I/O, for other wires and for tests, with the current state, whatever
   * version the request has (S-REST-9).
   * Rejects with an XdsError if a client would get a status: UNAVAILABLE, INVALID_ARGUMENT,
   * RESOURCE_EXHAUSTED, CANCELLED, INTERNAL; UNIMPLEMENTED if no service offers a Fetch of this
   * type; or the rejection of `peer` by `authorize` (default: an unknown caller).
   */
  fetch(
    typeUrl: string,
    request: Omit<MessageInitShape<typeof DiscoveryRequestSchema>, "$typeName">,
    options?: { readonly signal?: AbortSignal; readonly peer?: CallPeer },
  ): Promise<DiscoveryResponse>;
  /**
   * Returns the resources that a caller may see, as `authorize` and `sourceFor` decide, for other
   * protocols such as `createHttpHandler` of `@xdstp/transport-http/server`. Rejects with an
   * XdsError if a client would get a status, and emits the event `rejected`.
   * @param options - `path` is that of the request, for `authorize` and for display
   */
  readonly viewCaller: ViewCaller;
  /**
   * Answers one status request without I/O: a row for each resource of each client that matches the
   * request (B-CSDS-1). Rejects with an XdsError: INVALID_ARGUMENT for matchers that cannot be
   * tested, RESOURCE_EXHAUSTED if the response would be larger than `limits.stream.fullStateBytes`,
   * CANCELLED.
   * With `authorize` or `sourceFor`, the response has what `peer` may see. Without `peer` the
   * program itself is the caller, and sees everything.
   */
  clientStatus(
    request?: Omit<MessageInitShape<typeof ClientStatusRequestSchema>, "$typeName">,
    options?: { readonly signal?: AbortSignal; readonly peer?: CallPeer },
  ): Promise<ClientStatusResponse>;
  /**
   * Explains why a client has a version of a resource, or does not have it: whether it is
   * subscribed, allowed and served, what holds it back, and what the client answered.
   * It reads the state of the streams now, and costs as much as that node has subscriptions. Over
   * the wire it is part of client status: `client_features` has `xdstp.status.explain`, and
   * `node.metadata` has the question under that key.
   * Rejects with an XdsError, INVALID_ARGUMENT, for a question without a node, a type or the name
   * of one resource.
   */
  explain(asked: ExplainQuestion): Promise<Explanation>;
  /**
   * Waits until every connected client that subscribes to a change of a revision has accepted it,
   * or a later state. The revision is in the result of `cache.put`, `transaction` or `commit`.
   * Without subscribers it resolves at once with `noSubscribers: true`. Clients that connect during
   * the wait count too. A client that disconnects is waited for only if it is named; otherwise it
   * is in `gone`. A resource that a client unsubscribes during the wait is not waited for.
   * An ACK means that a client has accepted a change, not that the change is in force there.
   *
   * Call it before the next change: a resource that was changed again counts as changed by this
   * revision. With `createNodeCaches`, changes under other keys do not count.
   * Rejects with an {@link AckError}, which lists the missing clients: ABORTED at the first NACK,
   * DEADLINE_EXCEEDED, CANCELLED, or UNAVAILABLE when the server closes. Rejects with
   * INVALID_ARGUMENT for a revision that does not exist.
   */
  waitForAck(
    revision: number,
    options?: {
      /**
       * A list of node ids: only these clients count, and those that are not connected are waited
       * for. Or a function: the connected clients for which it returns true count. Default: every
       * connected client. A node id is a claim of the client.
       */
      readonly nodes?: readonly string[] | ((node: NodeInfo) => boolean);
      /** Milliseconds. Default: 30,000. */
      readonly timeout?: number;
      /** Ends the wait. */
      readonly signal?: AbortSignal;
    },
  ): Promise<AckReport>;
  /**
   * Adds a listener, which is called synchronously. Returns a function that removes it. An
   * exception of the listener is reported as an event of kind `fault`, and has no other effect.
   */
  events(listener: (event: ServerEvent) => void): () => void;
  /** Returns the number of open connections and streams, and the counters. */
  stats(): ServerStats;
}

/** The part of a `Meter` of the OpenTelemetry API that is used. */
export type MetricsMeter = Pick<
  Meter,
  "createCounter" | "createHistogram" | "createObservableCounter" | "createObservableGauge"
>;
