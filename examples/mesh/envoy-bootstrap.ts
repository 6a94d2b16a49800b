/** Everything over the one stream. */
export const ads = { ads: {}, resource_api_version: "V3" };

/** A bootstrap for Envoy with listeners and clusters by glob, so that new files need no new bootstrap. */
export function envoyBootstrap(port: number): unknown {
  return deltaBootstrap("mesh", port, {
    lds_resources_locator: "xdstp://mesh.example/envoy.config.listener.v3.Listener/envoy/*",
    lds_config: ads,
    cds_resources_locator: "xdstp://mesh.example/envoy.config.cluster.v3.Cluster/*",
    cds_config: ads,
  });
}

/**
 * A bootstrap for Envoy: delta over one stream.
 * @param port - Where the control plane listens
 * @param asked - What is asked for: `lds_config` and its like
 */
export function deltaBootstrap(cluster: string, port: number, asked: object): object {
  return {
    node: { id: `${cluster}-envoy`, cluster },
    admin: { address: loopback(0) },
    dynamic_resources: {
      ads_config: {
        api_type: "DELTA_GRPC",
        transport_api_version: "V3",
        set_node_on_first_message_only: true,
        grpc_services: [{ envoy_grpc: { cluster_name: "xds" } }],
      },
      ...asked,
    },
    static_resources: { clusters: [controlPlaneCluster(port)] },
  };
}

function controlPlaneCluster(port: number): unknown {
  return {
    name: "xds",
    type: "STATIC",
    connect_timeout: "1s",
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
    load_assignment: {
      cluster_name: "xds",
      endpoints: [{ lb_endpoints: [{ endpoint: { address: loopback(port) } }] }],
    },
  };
}

function loopback(port: number): unknown {
  return { socket_address: { address: "127.0.0.1", port_value: port } };
}
