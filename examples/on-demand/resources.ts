import { create, type JsonObject, toBinary } from "@bufbuild/protobuf";
import type { Resource } from "@xdstp/core";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { ResourceLocatorSchema } from "@xdstp/protos/xds";
import {
  cluster as clusterType,
  listener as listenerType,
  routeConfiguration,
  virtualHost as virtualHostType,
} from "@xdstp/resource-types";

import type { Shop } from "./shops.ts";

const ads = { ads: {}, resource_api_version: "V3" };
const extension = (type: string): JsonObject => ({
  "@type": `type.googleapis.com/envoy.extensions.filters.${type}`,
});

/** A resource of Envoy's API, from JSON. */
function resource(
  typeUrl: string,
  name: string,
  body: JsonObject,
  aliases: readonly string[] = [],
): Resource {
  const { value } = anyFromJson({ "@type": typeUrl, name, ...body }, envoyRegistry());
  return { name, version: "", payload: { typeUrl, value }, aliases };
}

/** A listener on a free port that knows hardly anything: its filter asks for virtual hosts (VHDS) and clusters (ODCDS) as requests need them. */
export function listener(name: string, routes: string): Resource {
  const onDemand = {
    name: "on_demand",
    typed_config: {
      ...extension("http.on_demand.v3.OnDemand"),
      odcds: { source: ads, timeout: "20s" },
    },
  };
  const router = { name: "router", typed_config: extension("http.router.v3.Router") };
  const manager = {
    ...extension("network.http_connection_manager.v3.HttpConnectionManager"),
    stat_prefix: "edge",
    strip_any_host_port: true,
    rds: { route_config_name: routes, config_source: ads },
    http_filters: [onDemand, router],
  };
  return resource(listenerType.typeUrl, name, {
    address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
    filter_chains: [{ filters: [{ name: "http", typed_config: manager }] }],
  });
}

/** Routes whose virtual hosts come on demand. */
export function routes(name: string): Resource {
  return resource(routeConfiguration.typeUrl, name, { vhds: { config_source: ads } });
}

/** A virtual host that Envoy answers for by itself. */
export function welcome(name: string, host: string): Resource {
  return resource(virtualHostType.typeUrl, name, {
    domains: [host],
    routes: [
      {
        match: { prefix: "/" },
        direct_response: { status: 200, body: { inline_string: "welcome" } },
      },
    ],
  });
}

/** The virtual host of a shop. */
export function virtualHost(
  name: string,
  { hosts }: Shop,
  aliases: readonly string[] = [],
): Resource {
  return resource(
    virtualHostType.typeUrl,
    name,
    { domains: [...hosts], routes: [{ match: { prefix: "/" }, route: { cluster: hosts[0] } }] },
    aliases,
  );
}

/** The cluster of a shop, on a port of loopback. */
export function cluster(name: string, port: number): Resource {
  const endpoint = { address: { socket_address: { address: "127.0.0.1", port_value: port } } };
  return resource(clusterType.typeUrl, name, {
    type: "STATIC",
    connect_timeout: "5s",
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint }] }] },
  });
}

/** A resource that says where to look. */
export function redirect(
  name: string,
  to: { readonly authority: string; readonly resourceType: string; readonly id: string },
): Resource {
  return {
    name,
    version: "",
    payload: {
      typeUrl: "type.googleapis.com/xds.core.v3.ResourceLocator",
      value: toBinary(ResourceLocatorSchema, create(ResourceLocatorSchema, to)),
    },
  };
}
