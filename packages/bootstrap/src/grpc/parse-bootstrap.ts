import type { Bootstrap, CertificateProvider, JsonObject, JsonValue } from "./bootstrap.ts";
import { parseAuthorities } from "./parse-authorities.ts";
import { checkedDepth, parseJson } from "./parse-json.ts";
import { parseNode } from "./parse-node.ts";
import { parseServers } from "./parse-servers.ts";
import { asObject, entries, objectIn, required, stringIn, wrongAt, type Placed } from "./place.ts";

/**
 * Reads the bootstrap of gRPC, as text or parsed already (C-GRPC-1). Unknown fields and server features are passed over.
 *
 * Throws an XdsError, INVALID_ARGUMENT, that names `source` (default: `bootstrap`), the path in the JSON, what is wrong and what would be right.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/grpc_xds_bootstrap_format.md
 */
export function parseBootstrap(json: string | object, source = "bootstrap"): Bootstrap {
  const whole =
    typeof json === "string"
      ? parseJson(json, source)
      : checkedDepth({ value: json as JsonValue, place: { source, path: "" } });
  const servers = parseServers(whole);
  if (servers.length === 0)
    throw wrongAt(
      whole.place,
      'has no xds_servers; give [{"server_uri": "host:port", "channel_creds": [{"type": "insecure"}]}]',
    );
  const [client, server] = [
    stringIn(whole, "client_default_listener_resource_name_template"),
    stringIn(whole, "server_listener_resource_name_template"),
  ];
  return {
    servers,
    node: parseNode(whole),
    authorities: parseAuthorities(whole),
    certificateProviders: providersOf(whole),
    ...(client !== undefined && { clientListenerTemplate: client }),
    ...(server !== undefined && { serverListenerTemplate: server }),
  };
}

function providersOf(bootstrap: Placed<JsonObject>): ReadonlyMap<string, CertificateProvider> {
  const providers = objectIn(bootstrap, "certificate_providers");
  return new Map(
    providers === undefined
      ? []
      : entries(providers).map(([name, entry]) => {
          const provider = asObject(entry);
          const plugin = required(
            stringIn(provider, "plugin_name"),
            provider,
            "plugin_name",
            'one like "file_watcher"',
          );
          return [name, { plugin, config: objectIn(provider, "config")?.value ?? {} }];
        }),
  );
}
