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
import type { AckReport } from "./ack-wait.ts";
import type { Explanation, ExplainQuestion, OriginOf } from "./explain/explanation.ts";
import type { Health } from "./server-facts.ts";
import type { ServedResource } from "./served-resources.ts";
import type { ServerEvent } from "./server-event.ts";
import type { ServerLimits } from "./server-limits.ts";

/** What {@link createServer} needs. Only `source` has to be given. */
export interface ServerOptions {
  /** What is served: a cache, or a filter over one. It brings the data of the types with it; types without data are served too. */
  readonly source: ListeningSource;
  /**
   * The services that are offered, and nothing else. Default: ADS and every service of one type of Envoy's API.
   * A row of data adds a service of your own; a type of your own needs none on ADS.
   */
  readonly services?: readonly ServiceRow[];
  /** Certificate and key, and whether clients have to show a certificate. Absent: no TLS. */
  readonly tls?: TlsOptions;
  /** Ends connections when they are so old, spread at random, so that clients spread over replicas again (S-STREAM-13). Absent: never. */
  readonly connectionAge?: ConnectionAge;
  /** Limits that replace those of {@link defaultServerLimits}, in the groups `stream`, `admission`, `access`, `answers` and `wire`: `{ stream: { subscriptions: 5_000 } }`. */
  readonly limits?: { readonly [Group in keyof ServerLimits]?: Partial<ServerLimits[Group]> };
  /**
   * Decides what each client may see. Absent: everyone sees everything. A node id is a claim and no identity: decide by `peer.identity`, which needs `tls.clientCa` (S-NODE-8).
   * While it is asked the stream is not read. With it, client status shows each caller the clients that have an equal policy and the same source.
   */
  readonly authorize?: Authorize;
  /** Chooses the source of each client: a node's own view, or undefined for `source`. Asked after `authorize`, with the same time; what it throws rejects the stream. Revisions of `waitForAck` are those of `source`, and clients of other sources do not count there. Client status shows each caller the clients of the same source, so give those who belong together the same object. Absent: `source` for all. */
  readonly sourceFor?: ((
    peer: Peer,
    options: { readonly signal: AbortSignal },
  ) => ResourceSource | undefined | Promise<ResourceSource | undefined>) & {
    /** Whether all that it gives is ready when the source of the server is: then new streams are turned away at once until that is ready (S-STREAM-9). Default: false, that is known once a source was chosen. */
    readonly viewsOnly?: boolean;
  };
  /** What single clients need. Default: {@link clientQuirks}; rows of your own go behind them. */
  readonly quirks?: readonly Quirk[];
  /** `control_plane.identifier` of each response, for people (B-NODE-9). Default: `xdstp`. Empty: none. */
  readonly controlPlane?: string;
  /**
   * Offers client status (CSDS): what every client was sent, accepted and rejected, with the resources (B-CSDS-1). Default: true, to whoever reaches the port;
   * a function decides by address and verified identity whether a caller may read it, for each request; what it throws is a bug, and the caller gets INTERNAL. Secrets in resources are hidden (B-CSDS-7).
   */
  readonly clientStatus?: boolean | ((peer: CallPeer) => boolean | Promise<boolean>);
  /** Further methods, served through Connect next to Fetch and client status; client status of a program's own clients, for instance, instead of that of this server. Default: none. */
  readonly routes?: (router: MethodRouter) => void;
  /** The health of what is served, read with each status request of a caller that may see all clients. Default: unknown. */
  readonly health?: () => readonly Health[];
  /** Says where a resource came from, for {@link XdsServer.explain}: a file, a server. Only callers that may see all clients are shown it. Default: unknown. */
  readonly originOf?: OriginOf;
  /** The types whose resources client status shows: what cannot be searched for secrets is left out. Default: Envoy's API. */
  readonly registry?: Registry;
  /** A meter of the OpenTelemetry API, or the part of one that is used: then the server is measured. Default: none. */
  readonly meter?: MetricsMeter;
  /** A tracer of the OpenTelemetry API: then each change is a span, from its commit to the last answer. Default: none. Costs a look at every stream per change. */
  readonly tracer?: Pick<Tracer, "startSpan">;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Default: slices of 256 streams per turn of the event loop. */
  readonly scheduler?: Scheduler;
  /** Default: that of this process. Below the versions with known security fixes the event `warning` says so, and everybody is served. */
  readonly nodeVersion?: string;
  /**
   * All resources that are served, read with a status request that lists them (`xdstp plan` does) and whose caller may see all clients. Of `createNodeCaches` it is `nodes.serving.resources`.
   * Default: they are not listed.
   */
  readonly resources?: () => Iterable<ServedResource>;
  /** The first listener; see {@link XdsServer.events}. Events hold live state: to print one, use {@link logLine}. */
  readonly onEvent?: (event: ServerEvent) => void;
}

/** What a server has counted. */
export interface ServerStats {
  /** Connections, streams, messages and what was cut. */
  readonly wire: GrpcStats;
  /** How often responses were encoded, shared and stamped again. */
  readonly frames: Readonly<FrameCounters>;
  /** Streams that begin, and that had to wait for it. */
  readonly admission: {
    /** Streams in their first sync, and streams that wait for it. */
    readonly syncing: number;
    /** Streams that wait for their first sync. */
    readonly waiting: number;
    /** Streams that had to wait, and of them those that were turned away. */
    readonly waited: number;
    /** Streams that have waited and were turned away. */
    readonly rejected: number;
  };
  /** Status requests and Fetches that are answered, that wait for it, and that were turned away. */
  readonly answers: Readonly<
    Record<
      "status" | "fetch",
      {
        /** Answers that are made now. */
        readonly answering: number;
        /** Calls that wait for theirs. */
        readonly waiting: number;
        /** Calls that were turned away since too many waited. */
        readonly rejected: number;
      }
    >
  >;
  /** How often a limit of the streams was met, by its name; one that never was is absent. */
  readonly limits: LimitCounts["counts"];
}

/** An xDS management server. */
export interface XdsServer extends AsyncDisposable {
  /**
   * Opens the port, once: gRPC over HTTP/2, with TLS where the option is given. `host` is 127.0.0.1 by default; port 0 takes a free one, and the answer says which.
   * Or a socket at a path of the file system, where there must be no file, for clients of the target `unix:PATH`; then `host` of the answer is that target, and `port` is 0.
   * Rejects with an XdsError that names the address: UNAVAILABLE if the system rejects it, FAILED_PRECONDITION if this server listens or is closed.
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
   * Ends in order (S-STREAM-13): no new streams, what is due already goes out, then each stream ends with OK.
   * With `spreadMs` all receive GOAWAY at once, are still served, and those of each connection end with UNAVAILABLE at a time of their own within it,
   * so that not all clients of a large server come back at once. What a client has not read `graceMs` (default 5,000) later is cut.
   * Resolves when nothing is left; a second call gives the same promise.
   */
  close(options?: { readonly graceMs?: number; readonly spreadMs?: number }): Promise<void>;
  /**
   * Replaces certificate, key and authorities for all connections to come; those that are open stay.
   * Throws an XdsError and changes nothing: INVALID_ARGUMENT if something is broken, FAILED_PRECONDITION if the server has no TLS
   * or would begin or cease to ask for certificates of clients.
   */
  setTls(tls: TlsOptions): void;
  /** A row per open stream, with a row per type in it: what was sent, accepted, rejected and why (S-ACK-9). */
  status(): readonly StreamStatus[];
  /**
   * Serves one streaming call without I/O, for other wires and for tests: a handler, or the status that rejects it.
   * @param path - The gRPC method, `/package.Service/Method`; it selects the variant (B-STREAM-1)
   * @param peer - Address of the client, for people
   * @param identity - Who the client is, as its wire has verified it
   */
  accept(
    path: string,
    peer: string,
    out: ByteStream,
    identity?: PeerIdentity,
  ): ByteStreamHandler | Status;
  /**
   * Answers one Fetch without I/O, for other wires and for tests: the current state, whatever version the request names (S-REST-9).
   * Rejects with an XdsError where a client would get a status: UNAVAILABLE, INVALID_ARGUMENT, RESOURCE_EXHAUSTED, CANCELLED, INTERNAL;
   * UNIMPLEMENTED if no service offers a Fetch of this type; what `authorize` says of `peer` (default: an unknown caller).
   */
  fetch(
    typeUrl: string,
    request: Omit<MessageInitShape<typeof DiscoveryRequestSchema>, "$typeName">,
    options?: { readonly signal?: AbortSignal; readonly peer?: CallPeer },
  ): Promise<DiscoveryResponse>;
  /**
   * Answers one status request without I/O: a row for each resource of each client (B-CSDS-1), of every client where the request says nothing. Rejects with an XdsError: INVALID_ARGUMENT for matchers that cannot be tested,
   * RESOURCE_EXHAUSTED where the answer would be larger than `limits.stream.fullStateBytes`, CANCELLED. With `authorize` or `sourceFor`, `peer` is shown what it may see; without `peer` the program itself asks, and sees all.
   */
  clientStatus(
    request?: Omit<MessageInitShape<typeof ClientStatusRequestSchema>, "$typeName">,
    options?: { readonly signal?: AbortSignal; readonly peer?: CallPeer },
  ): Promise<ClientStatusResponse>;
  /**
   * Explains why a client has a version of a resource, or does not have it: whether it is subscribed, allowed and served, what holds it back, what the client answered.
   * It reads the state of the streams now, at the cost of the subscriptions of that node. Over the wire it is part of client status: `client_features` has `xdstp.status.explain`, and `node.metadata` the question under that key.
   * Rejects with an XdsError, INVALID_ARGUMENT, for a question without a node, a type or the name of one resource.
   */
  explain(asked: ExplainQuestion): Promise<Explanation>;
  /**
   * Waits until every connected client that wants something changed by a revision (that of the answer of `cache.put`, `transaction` or `commit`) has accepted it, or a later state.
   * Without subscribers it resolves at once, and `noSubscribers` is true. Clients that connect meanwhile count too; one that disconnects is waited for only if it is named, and else is in `gone`.
   * An ACK says that a client has taken a change, not that it is in force there.
   *
   * Call it before the next change: what has been changed again since counts as changed by this revision. Of `createNodeCaches`, changes of the content of other keys do not count.
   * Rejects with an {@link AckError}, which lists who is missing: ABORTED at the first NACK, DEADLINE_EXCEEDED, CANCELLED, UNAVAILABLE when the server closes. INVALID_ARGUMENT for a revision that does not exist.
   */
  waitForAck(
    revision: number,
    options?: {
      /**
       * Node ids: only these count, and one that is not connected is waited for. Or a test: those connected clients for which it holds.
       * Default: every connected client. A node id is a claim of the client.
       */
      readonly nodes?: readonly string[] | ((node: NodeInfo) => boolean);
      /** Milliseconds. Default: 30,000. */
      readonly timeout?: number;
      /** Ends the wait. */
      readonly signal?: AbortSignal;
    },
  ): Promise<AckReport>;
  /** Adds a listener, called synchronously; the answer removes it. An error that it throws is reported as an event of kind `fault` and goes no further. */
  events(listener: (event: ServerEvent) => void): () => void;
  /** What is open and what was counted. */
  stats(): ServerStats;
}

/** The part of a `Meter` of the OpenTelemetry API that is used. */
export type MetricsMeter = Pick<
  Meter,
  "createCounter" | "createHistogram" | "createObservableCounter" | "createObservableGauge"
>;
