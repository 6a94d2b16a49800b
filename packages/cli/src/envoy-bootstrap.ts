import { isIP } from "node:net";
import type { JsonObject } from "@bufbuild/protobuf";
import type { ImportConnection } from "@xdstp/folder";
import { cluster as clusterType, listener as listenerType } from "@xdstp/resource-types";
import { printName, typeFromTypeUrl } from "@xdstp/uri";
import type { BootstrapOptions } from "./grpc-bootstrap.ts";
import type { Endpoint } from "./endpoint.ts";

/** The static cluster that leads to the server. */
const serverCluster = "xdstp_server";
const ads: JsonObject = { ads: {}, resource_api_version: "V3" };

/**
 * An `envoy.config.bootstrap.v3.Bootstrap` in JSON form: everything over one ADS stream, which asks for all listeners and clusters.
 *
 * With an authority it asks for the glob collections `xdstp://AUTHORITY/TYPE/*` of listeners and clusters instead, which are the files directly in these folders.
 * Their routes and endpoints are requested on the same stream, where they say `ads: {}`. There are no `config_sources` on purpose: each of them is a stream of its own,
 * on which nothing is in order with the clusters, so a cluster that changes alone would warm for 15 s (S-WARM-1).
 * Where `admin` has port 0, start Envoy with `--admin-address-path FILE` to learn which port it has taken.
 */
export function envoyBootstrap({
  admin,
  ...options
}: ConnectionOptions & { readonly admin: Endpoint }): {
  /** The node that Envoy sends: `id` and `cluster`. */
  readonly node: object;
  /** Where the admin page listens. Port 0: Envoy takes a free port. */
  readonly admin: object;
  /** The ADS stream, and what listeners and clusters are subscribed to. */
  readonly dynamic_resources: object;
  /** The cluster that leads to the server. */
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

/** What the parts of a bootstrap say that lead to a server. */
export interface ConnectionOptions extends BootstrapOptions {
  /** The variant of the protocol on the ADS stream. */
  readonly variant: "sotw" | "delta";
}

/** The parts of {@link envoyBootstrap} that lead to the server, for a bootstrap that has others. */
export function envoyConnection(options: ConnectionOptions): Omit<ImportConnection, "admin"> {
  const {
    node,
    cluster,
    variant,
    authorities: [authority],
  } = options;
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

/** The admin page, as a bootstrap says where it listens. */
export function adminAt(endpoint: Endpoint): JsonObject {
  return { address: socketAddress(endpoint) };
}

function socketAddress({ host, port }: Endpoint): JsonObject {
  return { socket_address: { address: host, port_value: port } };
}

function apiSource(kind: string): JsonObject {
  // Without the flag Envoy repeats 61 KB of node in every message, ACKs included.
  return {
    api_type: kind,
    transport_api_version: "V3",
    set_node_on_first_message_only: true,
    grpc_services: [{ envoy_grpc: { cluster_name: serverCluster } }],
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
    // Unless told otherwise Envoy takes only the IPv6 address of a name that has one, where a server on loopback does not listen.
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

/** Envoy has no authorities of its own: those of the machine, where Debian and the images of Envoy have them. */
const machineAuthorities = "/etc/ssl/certs/ca-certificates.crt";

/** A certificate of another name is rejected; without ALPN our server would not speak. */
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
