import { type Endpoint, formatEndpoint } from "./parse-endpoint.ts";

/** What people type to connect a client of each kind to a server that listens here. */
export function connectCommands({ host, port }: Endpoint): { readonly envoy: string; readonly grpc: string } {
  const server = formatEndpoint({ host: reachable(host), port });
  return { envoy: `xdstp bootstrap envoy --server ${server} > envoy.yaml && envoy -c envoy.yaml`, grpc: `xdstp bootstrap grpc --server ${server}` };
}

/** An address that stands for all of the machine's is none to connect to. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}
