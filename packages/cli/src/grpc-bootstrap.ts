import { defaultListenerTemplate } from "@xdstp/uri";
import { formatEndpoint } from "./endpoint.ts";

/** The options of a bootstrap for gRPC or for Envoy. */
export interface BootstrapOptions {
  /** The address of the server. */
  readonly server: {
    /** A name or an address, IPv6 without brackets. */
    readonly host: string;
    /** From 1 to 65535. */
    readonly port: number;
  };
  /** `node.id`: the name of this client, for people. */
  readonly node: string;
  /** `node.cluster`: the group of clients that it belongs to. */
  readonly cluster: string;
  /** The authorities whose names the client subscribes to; the first one is the default. Empty: a gRPC client subscribes to opaque names, and Envoy to all listeners and clusters. */
  readonly authorities: readonly string[];
  /** The certificate files as the client finds them. Absent: no TLS. */
  readonly tls?: {
    /** The file of the authorities that verify the server's certificate. Absent: those of the machine. */
    readonly ca?: string;
    /** The file of the client's certificate, only together with `key`. Absent: the client shows none. */
    readonly cert?: string;
    /** The file of the private key of `cert`. */
    readonly key?: string;
  };
}

/**
 * Returns a bootstrap for gRPC programs of any language. Write it as JSON to the file that `GRPC_XDS_BOOTSTRAP` names, or into the variable `GRPC_XDS_BOOTSTRAP_CONFIG`.
 *
 * With authorities, the target `xds://AUTHORITY/svc` subscribes to `xdstp://AUTHORITY/envoy.config.listener.v3.Listener/svc` (N-91), and `xds:///svc` subscribes to that name of the first authority.
 * Without authorities, `xds:///svc` subscribes to the opaque name `svc`.
 */
export function grpcBootstrap({ server, node, cluster, authorities, tls }: BootstrapOptions): {
  /** The server, with its credentials. */
  readonly xds_servers: readonly object[];
  /** The node that the program sends. */
  readonly node: object;
  /** The name template of each authority. Absent: names are opaque. */
  readonly authorities?: Readonly<Record<string, object>>;
  /** The name template of `xds:///SERVICE`. Absent: SERVICE itself is the name. */
  readonly client_default_listener_resource_name_template?: string;
} {
  return {
    xds_servers: [
      {
        server_uri: formatEndpoint(server),
        channel_creds: [credentials(tls)],
        server_features: ["xds_v3"],
      },
    ],
    // grpc-js-xds throws an error if the node does not have a locality.
    node: { id: node, cluster, locality: {} },
    ...federated(authorities),
  };
}

/** Returns the channel credentials. The gRPC libraries read the files again every ten minutes, so certificates can be renewed (A65). */
function credentials(tls: BootstrapOptions["tls"]): object {
  if (tls === undefined) return { type: "insecure" };
  const { ca, cert, key } = tls;
  return {
    type: "tls",
    config: {
      ...(ca !== undefined && { ca_certificate_file: ca }),
      ...(cert !== undefined && { certificate_file: cert, private_key_file: key }),
    },
  };
}

function federated(
  authorities: readonly string[],
): Pick<
  ReturnType<typeof grpcBootstrap>,
  "authorities" | "client_default_listener_resource_name_template"
> {
  const [first] = authorities;
  if (first === undefined) return {};
  return {
    authorities: Object.fromEntries(
      authorities.map((authority) => [
        authority,
        { client_listener_resource_name_template: defaultListenerTemplate(authority) },
      ]),
    ),
    client_default_listener_resource_name_template: defaultListenerTemplate(first),
  };
}
