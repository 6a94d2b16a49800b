import { defaultListenerTemplate } from "@xdstp/uri";
import { formatEndpoint } from "./endpoint.ts";

/** What a bootstrap says; of both kinds. */
export interface BootstrapOptions {
  /** Where the server listens. */
  readonly server: {
    /** A name or an address, IPv6 without brackets. */
    readonly host: string;
    /** From 1 to 65535. */
    readonly port: number;
  };
  /** `node.id`: which client this is, for people. */
  readonly node: string;
  /** `node.cluster`: the group it belongs to. */
  readonly cluster: string;
  /** The client subscribes to names of these authorities; the first is the default. Empty: to opaque names, and Envoy to everything. */
  readonly authorities: readonly string[];
  /** The server has TLS; files as the client finds them. Absent: it has none. */
  readonly tls?: {
    /** Authorities that the server's certificate is checked with. Absent: those of the machine. */
    readonly ca?: string;
    /** The certificate to show; only together with `key`. */
    readonly cert?: string;
    /** The private key of `cert`. */
    readonly key?: string;
  };
}

/**
 * A bootstrap for gRPC programs of any language, as the file or text that `GRPC_XDS_BOOTSTRAP` or `GRPC_XDS_BOOTSTRAP_CONFIG` names.
 *
 * With authorities the target `xds://AUTHORITY/svc` subscribes to `xdstp://AUTHORITY/envoy.config.listener.v3.Listener/svc` (N-91), and `xds:///svc` to that name of the first authority.
 * Without authorities `xds:///svc` subscribes to the opaque name `svc`.
 */
export function grpcBootstrap({ server, node, cluster, authorities, tls }: BootstrapOptions): {
  /** The server, with its credentials. */
  readonly xds_servers: readonly object[];
  /** The node that the program sends. */
  readonly node: object;
  /** The template for names of each authority. Absent: names are opaque. */
  readonly authorities?: Readonly<Record<string, object>>;
  /** The template for `xds:///SERVICE`. Absent: SERVICE is the name. */
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
    // Without a locality grpc-js-xds throws.
    node: { id: node, cluster, locality: {} },
    ...federated(authorities),
  };
}

/** The gRPC libraries read the files again every ten minutes, so certificates may be renewed (A65). */
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
