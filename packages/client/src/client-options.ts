import type { Meter } from "@opentelemetry/api";
import type { AnyBootstrap, Channels, NodeOptions, SourceConfig } from "@xdstp/bootstrap";
import type { CacheEvent } from "@xdstp/cache";
import type { BackoffOptions, Clock, ResourceSnapshot, ResourceType } from "@xdstp/core";
import {
  type ClientNotice,
  createFederationServer,
  type FederationEvent,
  type FederationSource,
  type FederationOptions,
  type ServerOptions,
} from "@xdstp/federation";
import { nodeWarning } from "@xdstp/grpc/client";
import type { ClientContextOptions, ClientLimits } from "@xdstp/protocol/client";

/** Options of {@link createClient}. Each has a default. */
export interface ClientOptions extends NodeOptions {
  /**
   * The servers and the node: a bootstrap of gRPC, or the result of `readEnvoyBootstrap` of
   * `@xdstp/bootstrap/envoy`. Default: the bootstrap that the environment names (C-GRPC-1).
   */
  readonly bootstrap?: AnyBootstrap;
  /**
   * Sources that are not configuration, before those of the bootstrap (C-AUTH-1): for names of
   * files, `createNativeFileSource()` of `@xdstp/transport-file/client`. Default: none.
   */
  readonly sources?: readonly FederationSource[];
  /**
   * The variant of xDS. In SotW only full-state types, such as listeners and clusters, have globs
   * (C-GLOB-10). Default: `delta`.
   */
  readonly variant?: "delta" | "sotw";
  /** The resource types. Default: the types of Envoy. */
  readonly types?: readonly ResourceType[];
  /** `client_scope` of client status (C-CSDS-6). Default: none. */
  readonly scope?: string;
  /**
   * Fields of the node that become context parameters of globs, such as `user_agent_name`
   * (C-CTX-3). Default: the fields that the bootstrap names (Envoy's `node_context_params`), else
   * none.
   */
  readonly nodeContextParams?: readonly string[];
  /**
   * Dynamic parameters (C-DYN-1) of opaque names, and of xdstp names by authority. Default: none.
   */
  readonly dynamicParameters?: {
    readonly opaque?: Readonly<Record<string, string>>;
    readonly authorities?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
  /** The delays between streams. Default: the delays of gRPC. */
  readonly backoff?: BackoffOptions;
  /** Limits on what a server may send. Each one given here replaces its default. */
  readonly limits?: Partial<ClientLimits>;
  /** `rate_limit_settings`: how often requests are sent. Default: no limit. */
  readonly rate?: NonNullable<ClientContextOptions["rate"]>;
  /**
   * Milliseconds after which a resource without a response counts as missing (C-MISS-4). Default:
   * 15,000; 30,000 with the server feature of C-GRPC-10.
   */
  readonly fetchMs?: number;
  /**
   * Milliseconds until a server is released after its last watch has ended (C-STREAM-14). A new
   * watch connects to it again at once. `Infinity`: never. Default: 10,000.
   */
  readonly idleMs?: number;
  /**
   * True if redirects are followed. If false, a type with `redirect` receives them, and all other
   * types reject them. Default: true.
   */
  readonly follow?: boolean;
  /** The maximum number of redirects that are followed from one name (C-REDIR-4). Default: 5. */
  readonly maxHops?: number;
  /**
   * When the alternative of a name is used. `unreachable`: no server that could answer is reachable
   * (C-ALT-2). `missing`: also when the first server reports that the resource does not exist.
   * Default: `unreachable`.
   */
  readonly altOn?: "unreachable" | "missing";
  /**
   * Returns true for an authority whose alternative also replaces cached resources as soon as the
   * authority is unreachable (C-ALT-3). Default: none.
   */
  readonly altOnUnreachable?: (authority: string) => boolean;
  /**
   * Finds the servers of an authority that is not in the bootstrap: as configuration, or as servers
   * that can be opened. `undefined`, or an XdsError NOT_FOUND or INVALID_ARGUMENT, means that there
   * are none. Any other error may be temporary. While a watch waits for an authority that is not
   * found, the client calls this again, after 1 s and then after longer delays, up to 120 s.
   * `createDnsResolver()` of `@xdstp/bootstrap` uses DNS. Default: no search; such a name has an
   * error (C-AUTH-5).
   */
  readonly resolveAuthority?: (
    authority: string,
  ) =>
    | SourceConfig
    | FederationSource
    | undefined
    | Promise<SourceConfig | FederationSource | undefined>;
  /**
   * Milliseconds that `resolveAuthority` may take. Then the names of the authority get an error
   * that says so. A later result is still used. Default: 15,000.
   */
  readonly resolveMs?: number;
  /**
   * Reads the ConfigSources in payloads, which a walk follows (C-AUTH-4): `configSourceReader()` of
   * `@xdstp/bootstrap/envoy`. It may throw an XdsError. Default: a name whose ConfigSource sets
   * neither `ads` nor `self` is not requested, and is in `pending` with the reason.
   */
  readonly sourceOf?: (configSource: Uint8Array) => SourceConfig;
  /**
   * Channels that this client shares with others (C-GRPC-12). Default: the channels of the process.
   */
  readonly channels?: Channels;
  /** A `Meter` of the OpenTelemetry API for the metrics of C-GRPC-14. Default: no metrics. */
  readonly meter?: Pick<Meter, "createObservableCounter" | "createObservableGauge">;
  /** The target of the data plane, a label of the metrics. Default: empty. */
  readonly target?: string;
  /**
   * The last known good state on disk: `openSnapshot({ dir })` of `@xdstp/snapshot`. After a
   * restart a watch delivers it at once, with an error and `restoredAt`, until a server answers. A resource that a watch
   * rejects never replaces the last accepted one in it. It belongs to the node id and the servers:
   * a client with others reads nothing of it. Use it for this client only; `close` writes and
   * closes it. Default: nothing is stored.
   */
  readonly snapshot?: ResourceSnapshot;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Returns a number from 0 up to 1, for jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /**
   * The version of Node. Below the versions with known security fixes, the client reports an event
   * `warning` and works as usual. Default: the version of this process.
   */
  readonly nodeVersion?: string;
  /** Receives the events of the client. It must not throw. */
  readonly onEvent?: (
    event:
      | ClientNotice
      | FederationEvent
      | CacheEvent
      /**
       * A problem that an operator should fix, and that does not prevent the client from working.
       * Reported once, when the first stream begins.
       */
      | {
          readonly kind: "warning";
          /** `node-version`: this version of Node lacks security fixes for HTTP/2. */
          readonly warning: "node-version";
          /** One line that also says how to fix the problem. */
          readonly message: string;
        },
  ) => void;
}

/**
 * Returns a function that reports the known vulnerabilities of a version of Node the first time it
 * is called.
 */
export function createNodeWarner(
  version: string,
  report: NonNullable<ClientOptions["onEvent"]>,
): () => void {
  let message = nodeWarning(version);
  return () => {
    if (message === undefined) return;
    const event = { kind: "warning", warning: "node-version", message } as const;
    message = undefined;
    report(event);
  };
}

/**
 * Adapts the option `resolveAuthority` for a federation: servers given as configuration become
 * servers that can be opened, as those of the bootstrap do.
 */
export function resolveBy(
  find: NonNullable<ClientOptions["resolveAuthority"]>,
  options: ServerOptions,
): NonNullable<FederationOptions["resolveAuthority"]> {
  return async (authority) => {
    const found = await find(authority);
    return (
      found && {
        ...found,
        servers: found.servers.map((server) =>
          "open" in server ? server : createFederationServer(server, options),
        ),
      }
    );
  };
}
