import { defaultListenerTemplate } from "@xdstp/uri";
import type { BootstrapOptions } from "./bootstrap-options.ts";
import { formatEndpoint } from "./parse-endpoint.ts";

/** The bootstrap of a gRPC program, as the file or text that `GRPC_XDS_BOOTSTRAP` or `GRPC_XDS_BOOTSTRAP_CONFIG` names. */
export interface GrpcBootstrap {
  readonly xds_servers: readonly object[];
  readonly node: object;
  readonly authorities?: Readonly<Record<string, object>>;
  readonly client_default_listener_resource_name_template?: string;
}

/**
 * A bootstrap for gRPC programs of any language.
 *
 * With an authority the targets `xds:///svc` and `xds://AUTHORITY/svc` both ask for `xdstp://AUTHORITY/envoy.config.listener.v3.Listener/svc` (N-91);
 * without one `xds:///svc` asks for the opaque name `svc`.
 */
export function grpcBootstrap({ server, node, cluster, authority }: BootstrapOptions): GrpcBootstrap {
  return {
    xds_servers: [{ server_uri: formatEndpoint(server), channel_creds: [{ type: "insecure" }], server_features: ["xds_v3"] }],
    // Without a locality grpc-js-xds throws.
    node: { id: node, cluster, locality: {} },
    ...(authority === undefined ? {} : federated(authority)),
  };
}

function federated(authority: string): Pick<GrpcBootstrap, "authorities" | "client_default_listener_resource_name_template"> {
  const template = defaultListenerTemplate(authority);
  return {
    authorities: { [authority]: { client_listener_resource_name_template: template } },
    client_default_listener_resource_name_template: template,
  };
}
