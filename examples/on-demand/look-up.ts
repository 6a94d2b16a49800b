import { type Client, createClient, parseBootstrap } from "@xdstp/client";
import { type VirtualHost, VirtualHostSchema } from "@xdstp/protos/envoy/route";

import { anyHost } from "./make-resources.ts";

/** A program that meets hosts and virtual IPs, and looks up what they stand for. */
export function createLookUps(port: number): Client {
  return createClient({
    bootstrap: parseBootstrap({
      xds_servers: [
        { server_uri: `127.0.0.1:${String(port)}`, channel_creds: [{ type: "insecure" }] },
      ],
      node: { id: "example-on-demand" },
    }),
  });
}

/** The cluster behind a host or a virtual IP (C-CTX-5). Whoever called is held until the answer has come, or what it leads to; rejects with NOT_FOUND where there is none. */
export async function lookUp(
  client: Client,
  attributes: { readonly host: string } | { readonly vip: string },
): Promise<string> {
  const { value } = await client.read(VirtualHostSchema, anyHost, {
    attributes: { ...attributes },
    timeoutMs: 10_000,
  });
  return clusterOf(value);
}

function clusterOf({ routes: [route] }: VirtualHost): string {
  const { action } = route ?? {};
  return action?.case === "route" && action.value.clusterSpecifier.case === "cluster"
    ? action.value.clusterSpecifier.value
    : "no cluster";
}
