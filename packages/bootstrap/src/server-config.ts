import { createHash } from "node:crypto";
import type {
  Bootstrap,
  BootstrapCredentials,
  BootstrapNode,
  BootstrapServer,
} from "./grpc/bootstrap.ts";
import type { BootstrapSources } from "./grpc/read-bootstrap.ts";

/** The configuration of a management server. A server of a gRPC bootstrap is one. */
export interface ServerConfig extends BootstrapServer {
  /** Default: the variant for all servers, which is `delta` unless the program sets `sotw`. */
  readonly variant?: "delta" | "sotw";
  /**
   * True for one stream for all types; false for one stream for each type, on the service of the
   * type (C-AGG-2). Default: true.
   */
  readonly aggregated?: boolean;
  /** Headers of each stream: names in lower case, values in printable ASCII. Default: none. */
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * `rate_limit_settings`: the number of requests that may be sent at once, and of requests per
   * second after that. Default: the rate for all servers.
   */
  readonly rate?: { readonly burst: number; readonly perSecond: number };
  /**
   * True if a resource that the server removes stays cached, with an error next to it, as in gRPC
   * (C-GRPC-9). Default: true, unless its features include `fail_on_data_errors`.
   */
  readonly keepRemoved?: boolean;
  /**
   * The server is polled over REST, per type and in SotW, whatever `variant` and `aggregated` are
   * (S-REST-1). Default: gRPC.
   */
  readonly rest?: RestPolls;
  /**
   * The server is a file with one type, in SotW, whatever `variant` and `aggregated` are
   * (C-FILE-4). It needs the transport `file` of {@link createChannels}. Default: gRPC.
   */
  readonly file?: PathSource;
}

/** A file that is followed: a `path_config_source` (section 25 of the rules). */
export interface PathSource {
  /** The path of the file. */
  readonly path: string;
  /**
   * `watched_directory`: each change in it reads the file again. Default: only changes of the file,
   * and of links in its path.
   */
  readonly watchedDirectory?: string;
}

/** The times of polls over REST, in milliseconds. */
export interface RestPolls {
  /** `refresh_delay`: between two polls; up to as much again is added at random (C-REST-6). Default: 5,000. */
  readonly refreshMs?: number;
  /** `request_timeout`: for an answer, in addition to `waitMs` (C-REST-7). Default: 1,000. */
  readonly requestTimeoutMs?: number;
  /**
   * The time that the server may hold a poll until there is something new. Default: 0, the server
   * answers at once.
   */
  readonly waitMs?: number;
}

/**
 * Servers in order of preference, and the names that are requested from them. Sources that list one
 * authority are tried in order (C-AUTH-3).
 */
export interface SourceConfig {
  /**
   * The servers in order, at least one. The next one is used when a previous one cannot be reached
   * (C-GRPC-6).
   */
  readonly servers: readonly ServerConfig[];
  /**
   * The authorities exactly as in names; `""` is an authority too. Absent: this is the default
   * source, for all names that no other source is for, including opaque names (C-AUTH-1).
   */
  readonly authorities?: readonly string[];
  /**
   * True if the source is for opaque names only, and not for xdstp names whose authority no source
   * lists: with `authorities` in its bootstrap, gRPC has no servers for these (C-AUTH-5). Then the
   * default source is not used for opaque names. Only without `authorities`. Default: false.
   */
  readonly opaque?: boolean;
  /**
   * True if the next server is used as soon as one is unreachable, even if no resource is missing
   * (C-GRPC-7). Default: false.
   */
  readonly reachabilityOnly?: boolean;
  /**
   * The place of the source in its configuration, for display, such as `config_sources[0]`.
   * Default: unknown.
   */
  readonly place?: string;
}

/**
 * The bootstrap of a client or a relay: a bootstrap of gRPC, parsed or as its location; or sources,
 * as `readEnvoyBootstrap` of `@xdstp/bootstrap/envoy` returns them, or as a program configures
 * them.
 */
export type AnyBootstrap =
  | Bootstrap
  | BootstrapSources
  | {
      /** The node of the client. */
      readonly node: BootstrapNode;
      /** The sources in order (C-AUTH-1). */
      readonly sources: readonly SourceConfig[];
      /** The one ADS source. Default: the sources determine the servers of opaque names. */
      readonly ads?: SourceConfig;
      /** Fields of the node that become context parameters (C-CTX-3). Default: none. */
      readonly nodeContextParams?: readonly string[];
    };

/**
 * Returns an id that is equal for equal servers, even if they are written differently. Such servers
 * share a stream (C-AGG-1). Values that may be secret are hashed.
 */
export function serverId({
  uri,
  credentials,
  features,
  variant,
  aggregated = true,
  metadata = {},
  rate,
  keepRemoved,
  rest,
  file,
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
    ...(rest === undefined ? [] : [restKey(rest)]),
    ...(file === undefined ? [] : [fileKey(file)]),
  ]);
}

function hashOf(metadata: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.length === 0
    ? ""
    : createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}

/** Returns a key that is equal for equal times of polls. */
export function restKey({ refreshMs, requestTimeoutMs, waitMs }: RestPolls): string {
  return [refreshMs, requestTimeoutMs, waitMs].join(" ");
}

/** Returns a key that is equal for equal files. */
export function fileKey({ path, watchedDirectory }: PathSource): string {
  return JSON.stringify([path, watchedDirectory]);
}

/**
 * Returns a key that is equal for equal credentials, even if they are written differently. Those of
 * a transport are equal if they are written alike, and they are hashed.
 */
export function credentialsKey(credentials: BootstrapCredentials): string {
  if (credentials.type === "transport")
    return JSON.stringify([
      credentials.type,
      credentials.name,
      createHash("sha256").update(JSON.stringify(credentials.config)).digest("hex"),
    ]);
  return JSON.stringify(credentials, [
    "type",
    "caCertificateFile",
    "certificateFile",
    "privateKeyFile",
    "servername",
    "refreshIntervalMs",
  ]);
}
