const ads = { ads: {}, resource_api_version: "V3" };

/**
 * A bootstrap for Envoy: delta over one stream; listeners and clusters by glob, so that new files need no new bootstrap.
 * @param port - Where the control plane listens
 */
export function envoyBootstrap(port: number): unknown {
  return {
    node: { id: "mesh-envoy", cluster: "mesh" },
    admin: { address: loopback(0) },
    dynamic_resources: {
      ads_config: { api_type: "DELTA_GRPC", transport_api_version: "V3", set_node_on_first_message_only: true, grpc_services: [{ envoy_grpc: { cluster_name: "xds" } }] },
      lds_resources_locator: "xdstp://mesh.example/envoy.config.listener.v3.Listener/envoy/*",
      lds_config: ads,
      cds_resources_locator: "xdstp://mesh.example/envoy.config.cluster.v3.Cluster/*",
      cds_config: ads,
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
    load_assignment: { cluster_name: "xds", endpoints: [{ lb_endpoints: [{ endpoint: { address: loopback(port) } }] }] },
  };
}

function loopback(port: number): unknown {
  return { socket_address: { address: "127.0.0.1", port_value: port } };
}
