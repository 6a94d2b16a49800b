import type { Meter } from "@opentelemetry/api";
import type { AnyBootstrap, Channels, NodeOptions, SourceConfig } from "@xdstp/bootstrap";
import type { CacheEvent } from "@xdstp/cache";
import type { BackoffOptions, Clock, ResourceType } from "@xdstp/core";
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

/** Options of {@link createClient}: each has a default. */
export interface ClientOptions extends NodeOptions {
  /** The servers and the node: the bootstrap of gRPC, or what `readEnvoyBootstrap` of `@xdstp/bootstrap/envoy` gives. Default: the bootstrap that the environment names (C-GRPC-1). */
  readonly bootstrap?: AnyBootstrap;
  /** The variant of xDS that the servers are spoken to in. SotW has no globs but of types of full state (C-GLOB-10). Default: `delta`. */
  readonly variant?: "delta" | "sotw";
  /** The data of types. Default: Envoy's. */
  readonly types?: readonly ResourceType[];
  /** `client_scope` of client status (C-CSDS-6). Default: none. */
  readonly scope?: string;
  /** Fields of the node that become context parameters of globs, such as `user_agent_name` (C-CTX-3). Default: those of the bootstrap (Envoy's `node_context_params`), else none. */
  readonly nodeContextParams?: readonly string[];
  /** Dynamic parameters (C-DYN-1): of opaque names, and by authority of xdstp names. Default: none. */
  readonly dynamicParameters?: {
    readonly opaque?: Readonly<Record<string, string>>;
    readonly authorities?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
  /** How long to wait between streams. Default: as gRPC waits. */
  readonly backoff?: BackoffOptions;
  /** Overrides of what is taken from a server. */
  readonly limits?: Partial<ClientLimits>;
  /** `rate_limit_settings`. Default: no limit. */
  readonly rate?: NonNullable<ClientContextOptions["rate"]>;
  /** Milliseconds after which what has not come does not exist (C-MISS-4). Default: 15,000; 30,000 with the server feature of C-GRPC-10. */
  readonly fetchMs?: number;
  /** Milliseconds after which a server of which nothing is watched any more is let go (C-STREAM-14); what is watched next asks it again at once. `Infinity`: never. Default: 10,000. */
  readonly idleMs?: number;
  /** Whether redirects are followed. Without it they come as they are, to types that have `redirect`, and are rejected by all others. Default: true. */
  readonly follow?: boolean;
  /** How many redirects are followed from one name (C-REDIR-4). Default: 5. */
  readonly maxHops?: number;
  /** When the alternative of a name is used: `unreachable`, when no server that could answer is reachable (C-ALT-2); `missing`, also when the first server says that the resource does not exist. Default: `unreachable`. */
  readonly altOn?: "unreachable" | "missing";
  /** Authorities whose alternative also replaces cached resources, as soon as they cannot be reached (C-ALT-3). Default: none. */
  readonly altOnUnreachable?: (authority: string) => boolean;
  /** Finds the servers of an authority that the bootstrap does not have, in the form of the configuration or ready-made. undefined, or an XdsError NOT_FOUND or INVALID_ARGUMENT: there are none; any other error may pass. While one is not found and a watch waits for it, it is called again, after 1 s and then longer, up to 120 s. `createDnsResolver()` of `@xdstp/bootstrap` asks DNS. Default: no search, such a name is an error (C-AUTH-5). */
  readonly resolveAuthority?: (
    authority: string,
  ) =>
    | SourceConfig
    | FederationSource
    | undefined
    | Promise<SourceConfig | FederationSource | undefined>;
  /** Milliseconds in which `resolveAuthority` has to answer; then its names have an error that says so. A late answer is still taken. Default: 15,000. */
  readonly resolveMs?: number;
  /** Reads the ConfigSources in payloads, which a walk follows (C-AUTH-4): `configSourceReader()` of `@xdstp/bootstrap/envoy`. It may throw an XdsError. Default: what stands next to one that says neither `ads` nor `self` is not asked for, and `pending` says so. */
  readonly sourceOf?: (configSource: Uint8Array) => SourceConfig;
  /** Channels that this client shares with others (C-GRPC-12). Default: those of the process. */
  readonly channels?: Channels;
  /** Where to measure (C-GRPC-14): a `Meter` of the OpenTelemetry API. Default: nothing is measured. */
  readonly meter?: Pick<Meter, "createObservableCounter" | "createObservableGauge">;
  /** The target of the data plane, for metrics. Default: none. */
  readonly target?: string;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** From 0 up to 1, for jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /** Default: that of this process. Below the versions with known security fixes the event `warning` says so, and all works. */
  readonly nodeVersion?: string;
  /** Told what happens. It must not throw. */
  readonly onEvent?: (
    event:
      | ClientNotice
      | FederationEvent
      | CacheEvent
      /** Something that an operator should fix and that does not prevent work. Reported once, as the first stream begins. */
      | {
          readonly kind: "warning";
          /** `node-version`: this Node lacks security fixes for HTTP/2. */
          readonly warning: "node-version";
          /** One line with the way out. */
          readonly message: string;
        },
  ) => void;
}

/** What tells of known holes of a Node, when it is called for the first time. */
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

/** `resolveAuthority` for a federation: servers in the form of the configuration are used as those of the bootstrap are. */
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
