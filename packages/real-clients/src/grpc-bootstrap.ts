/** A bootstrap of gRPC clients whose one management server is on this port of the loopback. */
export function grpcBootstrap(port: number, more: object = {}, tls?: { readonly ca: string }): string {
  return JSON.stringify({ xds_servers: [grpcServerAt(port, tls)], node: { id: "real-grpc", cluster: "suites", locality: {} }, ...more });
}

/** A management server, as a bootstrap names it. */
export function grpcServerAt(port: number, tls?: { readonly ca: string }): object {
  const credentials = tls === undefined ? { type: "insecure" } : { type: "tls", config: { ca_certificate_file: tls.ca } };
  return { server_uri: `127.0.0.1:${port}`, channel_creds: [credentials] };
}
