import { type Endpoint, formatEndpoint } from "./parse-endpoint.ts";

/** How a server with TLS is reached. */
export interface ServedTls {
  /** A name that is in its certificate; see `serverName`. */
  readonly name: string;
  /** Clients have to show a certificate. */
  readonly clients: boolean;
}

/** What people type to connect a client of each kind to a server that listens here. With TLS they put in their own files: the server does not know them. */
export function connectCommands(
  { host, port }: Endpoint,
  tls?: ServedTls,
): { readonly envoy: string; readonly grpc: string } {
  const server = formatEndpoint({ host: tls?.name ?? reachable(host), port });
  const files =
    tls === undefined
      ? ""
      : ` --tls-ca CA.pem${tls.clients ? " --tls-cert CLIENT.pem --tls-key CLIENT-KEY.pem" : ""}`;
  return {
    envoy: `xdstp bootstrap envoy --server ${server}${files} > envoy.yaml && envoy -c envoy.yaml`,
    grpc: `xdstp bootstrap grpc --server ${server}${files}`,
  };
}

/** A client cannot connect to a wildcard address such as 0.0.0.0. */
export function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}
