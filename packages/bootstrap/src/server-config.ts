import { createHash } from "node:crypto";
import type {
  Bootstrap,
  BootstrapCredentials,
  BootstrapNode,
  BootstrapServer,
} from "./grpc/bootstrap.ts";
import type { BootstrapSources } from "./grpc/read-bootstrap.ts";

/** A management server and how it is spoken to, as configuration says it. One of a gRPC bootstrap is one as it is. */
export interface ServerConfig extends BootstrapServer {
  /** Default: that of all servers, which is `delta` unless the program says `sotw`. */
  readonly variant?: "delta" | "sotw";
  /** One stream for all types; else one for each, on the service of the type (C-AGG-2). Default: true. */
  readonly aggregated?: boolean;
  /** Headers of each stream: names in lower case, values in printable ASCII. Default: none. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** `rate_limit_settings`: requests that may be sent at once, and requests per second after that. Default: that of all servers. */
  readonly rate?: { readonly burst: number; readonly perSecond: number };
  /** A resource that the server removes stays, with the error next to it, as gRPC has it (C-GRPC-9). Default: true, unless its features have `fail_on_data_errors`. */
  readonly keepRemoved?: boolean;
}

/** Servers in order of preference, and the names that are requested of them. Sources that list one authority are tried in order (C-AUTH-3). */
export interface SourceConfig {
  /** The next one is asked when one above cannot be reached (C-GRPC-6). At least one. */
  readonly servers: readonly ServerConfig[];
  /** Exactly as names write them; `""` is one too. Absent: it is the default, for all that no other source is for, opaque names included (C-AUTH-1). */
  readonly authorities?: readonly string[];
  /** Opaque names only, and no xdstp name whose authority no source lists: with `authorities` in its bootstrap gRPC knows no others (C-AUTH-5). The default is not asked for opaque names then. Only without `authorities`. Default: false. */
  readonly opaque?: boolean;
  /** The next server is asked as soon as one cannot be reached, also when nothing is missing (C-GRPC-7). Default: false. */
  readonly reachabilityOnly?: boolean;
  /** Where it is configured, for people, such as `config_sources[0]`. Default: unknown. */
  readonly place?: string;
}

/** The bootstrap of a client or a relay: a bootstrap of gRPC, parsed or as the place that has it; or sources, as `readEnvoyBootstrap` of `@xdstp/bootstrap/envoy` reads them, or as a program configures them itself. */
export type AnyBootstrap =
  | Bootstrap
  | BootstrapSources
  | {
      /** The node that the bootstrap gives. */
      readonly node: BootstrapNode;
      /** In order (C-AUTH-1). */
      readonly sources: readonly SourceConfig[];
      /** The one ADS source. Default: opaque names are requested where the sources say. */
      readonly ads?: SourceConfig;
      /** Fields of the node that become context parameters (C-CTX-3). Default: none. */
      readonly nodeContextParams?: readonly string[];
    };

/** Equal for servers that are equal, however they are written: those share a stream (C-AGG-1). What may be secret in it is hashed. */
export function serverId({
  uri,
  credentials,
  features,
  variant,
  aggregated = true,
  metadata = {},
  rate,
  keepRemoved,
}: ServerConfig): string {
  return JSON.stringify([
    uri,
    credentialsKey(credentials),
    [...features].sort(),
    variant,
    aggregated,
    rate === undefined ? null : [rate.burst, rate.perSecond],
    keepRemoved ?? !features.has("fail_on_data_errors"),
    hashOf(metadata),
  ]);
}

function hashOf(metadata: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.length === 0
    ? ""
    : createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}

/** Equal for equal credentials, however they are written. */
export function credentialsKey(credentials: BootstrapCredentials): string {
  return JSON.stringify(credentials, [
    "type",
    "caCertificateFile",
    "certificateFile",
    "privateKeyFile",
    "servername",
    "refreshIntervalMs",
  ]);
}
