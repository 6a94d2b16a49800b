import { isIP } from "node:net";
import type { JsonObject } from "@bufbuild/protobuf";
import type { ImportConnection } from "@xdstp/folder";
import { cluster as clusterType, listener as listenerType } from "@xdstp/resource-types";
import { printName, typeFromTypeUrl } from "@xdstp/uri";
import type { BootstrapOptions } from "./grpc-bootstrap.ts";
import type { Endpoint } from "./endpoint.ts";

/** The name of the static cluster with the address of the server. */
const serverCluster = "xdstp_server";
const ads: JsonObject = { ads: {}, resource_api_version: "V3" };

/**
 * Returns an `envoy.config.bootstrap.v3.Bootstrap` in JSON form. Envoy uses one ADS stream, and subscribes to all listeners and clusters.
 *
 * With an authority, Envoy subscribes to the glob collections `xdstp://AUTHORITY/TYPE/*` of listeners and clusters instead. These are the files directly in the folders of these types.
 * Routes and endpoints are requested on the same stream, because listeners and clusters refer to them with `ads: {}`. The bootstrap has no `config_sources` on purpose: each of them would open a stream of its own.
 * The order between two streams is not defined, so a cluster that changes alone would stay in warming for 15 s (S-WARM-1).
 * If `admin` has port 0, start Envoy with `--admin-address-path FILE`: Envoy writes the port that it uses into this file.
 */
export function envoyBootstrap({
  admin,
  ...options
}: ConnectionOptions & { readonly admin: Endpoint }): {
  /** The node that Envoy sends: `id` and `cluster`. */
  readonly node: object;
  /** The address of the admin page. Port 0: Envoy takes a free port. */
  readonly admin: object;
  /** The ADS stream, and the collections of listeners and clusters that Envoy subscribes to. */
  readonly dynamic_resources: object;
  /** The cluster with the address of the server. */
  readonly static_resources: object;
} {
  const { node, dynamicResources, cluster } = envoyConnection(options);
  return {
    node,
    admin: adminAt(admin),
    dynamic_resources: dynamicResources,
    static_resources: { clusters: [cluster] },
  };
}

/** The variants of the protocol that Envoy knows. */
export type EnvoyVariant = "sotw" | "delta" | "rest";

/** The options of the parts of a bootstrap that connect to a server. */
export interface ConnectionOptions extends BootstrapOptions {
  /** The variant of the protocol: on the ADS stream, or `rest` for polls of each type. */
  readonly variant: EnvoyVariant;
}

/** Returns the parts of {@link envoyBootstrap} that connect to the server, to add them to another bootstrap. */
export function envoyConnection(options: ConnectionOptions): Omit<ImportConnection, "admin"> {
  const {
    node,
    cluster,
    variant,
    authorities: [authority],
  } = options;
  if (variant === "rest")
    return {
      node: { id: node, cluster },
      dynamicResources: { lds_config: polls(), cds_config: polls() },
      cluster: clusterOf(options),
    };
  return {
    node: { id: node, cluster },
    dynamicResources: {
      ads_config: apiSource(variant === "delta" ? "DELTA_GRPC" : "GRPC"),
      ...(authority !== undefined && {
        lds_resources_locator: glob(authority, listenerType.typeUrl),
      }),
      lds_config: ads,
      ...(authority !== undefined && {
        cds_resources_locator: glob(authority, clusterType.typeUrl),
      }),
      cds_config: ads,
    },
    cluster: clusterOf(options),
  };
}

/** Returns the `admin` field of a bootstrap. */
export function adminAt(endpoint: Endpoint): JsonObject {
  return { address: socketAddress(endpoint) };
}

function socketAddress({ host, port }: Endpoint): JsonObject {
  return { socket_address: { address: host, port_value: port } };
}

function apiSource(kind: string): JsonObject {
  // Without `set_node_on_first_message_only`, Envoy repeats its node of 61 KB in every message, also in ACKs.
  return {
    api_type: kind,
    transport_api_version: "V3",
    set_node_on_first_message_only: true,
    grpc_services: [{ envoy_grpc: { cluster_name: serverCluster } }],
  };
}

/**
 * A source that Envoy polls. The file of a route or endpoint needs the same source, since REST has
 * no stream for all types that `ads: {}` could mean.
 */
function polls(): JsonObject {
  return {
    resource_api_version: "V3",
    api_config_source: {
      api_type: "REST",
      transport_api_version: "V3",
      cluster_names: [serverCluster],
      refresh_delay: "1s",
      request_timeout: "5s",
    },
  };
}

function glob(authority: string, typeUrl: string): string {
  return printName({
    scheme: "xdstp",
    authority,
    resourceType: typeFromTypeUrl(typeUrl) ?? "",
    id: "*",
    contextParams: new Map(),
  });
}

function clusterOf({ server, tls }: BootstrapOptions): JsonObject {
  const http = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  const endpoint = { address: socketAddress(server) };
  return {
    name: serverCluster,
    // By default Envoy uses only the IPv6 address of a name that has one, and a server that listens on 127.0.0.1 could not be reached.
    ...(isIP(server.host) === 0
      ? { type: "STRICT_DNS", dns_lookup_family: "ALL" }
      : { type: "STATIC" }),
    connect_timeout: "1s",
    typed_extension_protocol_options: {
      [http]: {
        "@type": `type.googleapis.com/${http}`,
        explicit_http_config: {
          http2_protocol_options: { connection_keepalive: { interval: "30s", timeout: "10s" } },
        },
      },
    },
    ...(tls && { transport_socket: transportSocket(server.host, tls) }),
    load_assignment: { cluster_name: serverCluster, endpoints: [{ lb_endpoints: [{ endpoint }] }] },
  };
}

/** The file with the certificate authorities of the machine, on Debian and in the images of Envoy. Envoy does not find them by itself. */
const machineAuthorities = "/etc/ssl/certs/ca-certificates.crt";

/** Returns the TLS settings of the cluster. Envoy rejects a certificate that is not for this host. The server accepts only connections that negotiate `h2` with ALPN. */
function transportSocket(
  host: string,
  { ca = machineAuthorities, cert, key }: NonNullable<BootstrapOptions["tls"]>,
): JsonObject {
  const isName = isIP(host) === 0;
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      ...(isName && { sni: host }),
      common_tls_context: {
        tls_params: { tls_minimum_protocol_version: "TLSv1_2" },
        alpn_protocols: ["h2"],
        ...(cert !== undefined &&
          key !== undefined && {
            tls_certificates: [
              { certificate_chain: { filename: cert }, private_key: { filename: key } },
            ],
          }),
        validation_context: {
          trusted_ca: { filename: ca },
          match_typed_subject_alt_names: [
            { san_type: isName ? "DNS" : "IP_ADDRESS", matcher: { exact: host } },
          ],
        },
      },
    },
  };
}
