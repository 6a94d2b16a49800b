import { dirname } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { type Source, ads } from "./resources.ts";

/** A variant of the protocol, and whether all types share a stream. */
export type StreamKind = `${"sotw" | "delta"}/${"ads" | "per-type"}`;

/** All of them. */
export const streamKinds: readonly StreamKind[] = [
  "sotw/ads",
  "delta/ads",
  "sotw/per-type",
  "delta/per-type",
];

/** Returns the source of resources in this kind of stream, for the bootstrap and for the resources themselves. */
export function sourceOf(kind: StreamKind): Source {
  return kind.endsWith("/ads")
    ? ads
    : {
        resource_api_version: "V3",
        api_config_source: apiSource(kind.startsWith("delta") ? "DELTA_GRPC" : "GRPC"),
      };
}

/** The way in which Envoy reaches its management server. */
export interface ServerAccess {
  /** Absent: no TLS. */
  readonly tls?: ClientTls;
  /** The longest wait before a retry, in milliseconds. Default: that of Envoy, 30,000. */
  readonly retryMs?: number;
}

/** The proofs of identity between a client and its management server; all are files. */
export interface ClientTls {
  /** The authorities that the certificate of the server may be signed by. */
  readonly ca: string;
  /** The certificate that the client shows. Absent: it shows none. */
  readonly own?: ClientFiles;
}

/** A certificate of a client, in each of the forms that programs read. The files may be replaced while they run. */
export interface ClientFiles {
  readonly cert: string;
  readonly key: string;
  /** Both as a secret `client` of Envoy's API, in a response as Envoy reads it from a file. */
  readonly secret: string;
}

/** A bootstrap that asks for all listeners and clusters. */
export function wildcardBootstrap(
  kind: StreamKind,
  port: number,
  { tls, retryMs }: ServerAccess = {},
): JsonObject {
  const source = sourceOf(kind);
  const dynamic = {
    ...(source === ads
      ? { ads_config: apiSource(kind.startsWith("delta") ? "DELTA_GRPC" : "GRPC", "xds", retryMs) }
      : {}),
    lds_config: source,
    cds_config: source,
  };
  return { ...common(port, tls), dynamic_resources: dynamic };
}

/** A bootstrap that asks for listeners and clusters by glob. */
export function globBootstrap(
  variant: "sotw" | "delta",
  port: number,
  listeners: string,
  clusters: string,
): JsonObject {
  const dynamic = {
    ads_config: apiSource(variant === "delta" ? "DELTA_GRPC" : "GRPC"),
    lds_resources_locator: listeners,
    lds_config: ads,
    cds_resources_locator: clusters,
    cds_config: ads,
  };
  return { ...common(port), dynamic_resources: dynamic };
}

/** A bootstrap with listeners and clusters of its own, which takes routes and endpoints from the server of their authority; the last one is the default. */
export function authorityBootstrap(
  variant: "sotw" | "delta",
  servers: Readonly<Record<string, number>>,
  listeners: readonly JsonObject[],
  clusters: readonly JsonObject[],
): JsonObject {
  const sources = Object.keys(servers).map((authority) => ({
    authorities: [{ name: authority }],
    api_config_source: apiSource(
      variant === "delta" ? "AGGREGATED_DELTA_GRPC" : "AGGREGATED_GRPC",
      `server-${authority}`,
    ),
  }));
  return {
    ...identity,
    config_sources: sources.slice(0, -1),
    default_config_source: sources.at(-1) ?? {},
    static_resources: {
      listeners: [...listeners],
      clusters: [
        ...Object.entries(servers).map(([authority, port]) =>
          serverCluster(`server-${authority}`, port),
        ),
        ...clusters,
      ],
    },
    layered_runtime: {
      layers: [
        {
          name: "l",
          static_layer: {
            "envoy.reloadable_features.xdstp_based_config_singleton_subscriptions": true,
          },
        },
      ],
    },
  };
}

const identity = {
  node: { id: "real-envoy", cluster: "suites" },
  admin: { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } },
};

function common(port: number, tls?: ClientTls): JsonObject {
  return { ...identity, static_resources: { clusters: [serverCluster("xds", port, tls)] } };
}

function apiSource(kind: string, cluster = "xds", retryMs?: number): JsonObject {
  const retry =
    retryMs === undefined
      ? {}
      : {
          retry_policy: {
            retry_back_off: { base_interval: "0.1s", max_interval: `${retryMs / 1000}s` },
          },
        };
  return {
    api_type: kind,
    transport_api_version: "V3",
    set_node_on_first_message_only: true,
    grpc_services: [{ envoy_grpc: { cluster_name: cluster, ...retry } }],
  };
}

function serverCluster(name: string, port: number, tls?: ClientTls): JsonObject {
  const http = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  return {
    name,
    type: "STATIC",
    connect_timeout: "1s",
    ...(tls === undefined ? {} : { transport_socket: tlsSocket(tls) }),
    typed_extension_protocol_options: {
      [http]: {
        "@type": `type.googleapis.com/${http}`,
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
    load_assignment: {
      cluster_name: name,
      endpoints: [
        {
          lb_endpoints: [
            {
              endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port } } },
            },
          ],
        },
      ],
    },
  };
}

function tlsSocket({ ca, own }: ClientTls): JsonObject {
  const type = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
  const shown =
    own === undefined
      ? {}
      : {
          tls_certificate_sds_secret_configs: [
            { name: "client", sds_config: followedFile(own.secret) },
          ],
        };
  return {
    name: "tls",
    typed_config: {
      "@type": type,
      sni: "localhost",
      common_tls_context: {
        alpn_protocols: ["h2"],
        validation_context: { trusted_ca: { filename: ca } },
        ...shown,
      },
    },
  };
}

/** Envoy sees renames only, of anything in the watched folder. */
function followedFile(path: string): JsonObject {
  return {
    resource_api_version: "V3",
    path_config_source: { path, watched_directory: { path: dirname(path) } },
  };
}
