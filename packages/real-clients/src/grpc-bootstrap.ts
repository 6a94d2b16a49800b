import type { ClientFiles, ClientTls } from "./envoy-bootstrap.ts";

/** A bootstrap of gRPC clients whose one management server is on this port of the loopback. */
export function grpcBootstrap(port: number, more: object = {}, tls?: ClientTls): string {
  return JSON.stringify({
    xds_servers: [grpcServerAt(port, tls)],
    node: { id: "real-grpc", cluster: "suites", locality: {} },
    ...more,
  });
}

/** A management server, as a bootstrap names it. */
export function grpcServerAt(port: number, tls?: ClientTls): object {
  const credentials =
    tls === undefined
      ? { type: "insecure" }
      : { type: "tls", config: { ca_certificate_file: tls.ca, ...(tls.own && shown(tls.own)) } };
  return { server_uri: `127.0.0.1:${port}`, channel_creds: [credentials] };
}

/** The files are read again each second, the shortest time that grpcio takes. */
function shown({ cert, key }: ClientFiles): object {
  return { certificate_file: cert, private_key_file: key, refresh_interval: "1s" };
}
