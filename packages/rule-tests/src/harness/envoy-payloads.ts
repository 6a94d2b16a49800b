import { lengthDelimited } from "@xdstp/core/wire";
import { payloadOf } from "./payload.ts";

const CONNECTION_MANAGER =
  "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/** A `Cluster` that takes its endpoints from an assignment of this name; default: its own name. */
export function edsCluster(name: string, text = "", serviceName = ""): Uint8Array {
  const type = new Uint8Array([2 << 3, 3]);
  const service =
    serviceName === "" ? new Uint8Array() : lengthDelimited(3, lengthDelimited(2, serviceName));
  return Buffer.concat([payloadOf(name, text), type, service]);
}

/** A `Listener` whose connection manager takes its routes from a route configuration of this name. */
export function rdsListener(name: string, route: string, text = ""): Uint8Array {
  const manager = lengthDelimited(3, lengthDelimited(2, route));
  const typedConfig = Buffer.concat([
    lengthDelimited(1, CONNECTION_MANAGER),
    lengthDelimited(2, manager),
  ]);
  const filter = lengthDelimited(4, typedConfig);
  return Buffer.concat([payloadOf(name, text), lengthDelimited(3, lengthDelimited(3, filter))]);
}

/** A `Listener` whose connection manager has its routes in it: one, to this cluster. */
export function inlineListener(name: string, cluster: string): Uint8Array {
  const manager = lengthDelimited(4, routeTo("", cluster));
  const typedConfig = Buffer.concat([
    lengthDelimited(1, CONNECTION_MANAGER),
    lengthDelimited(2, manager),
  ]);
  const filter = lengthDelimited(4, typedConfig);
  return Buffer.concat([payloadOf(name), lengthDelimited(3, lengthDelimited(3, filter))]);
}

/** A `Listener` with a network filter that comes as an extension config of this name over ADS. */
export function ecdsListener(name: string, config: string): Uint8Array {
  const discovery = lengthDelimited(1, lengthDelimited(3, new Uint8Array()));
  const filter = Buffer.concat([lengthDelimited(1, config), lengthDelimited(5, discovery)]);
  return Buffer.concat([payloadOf(name), lengthDelimited(3, lengthDelimited(3, filter))]);
}

/** A `RouteConfiguration` with one route, to this cluster. */
export function routeTo(name: string, cluster: string, text = ""): Uint8Array {
  const action = lengthDelimited(2, lengthDelimited(1, cluster));
  const virtualHost = lengthDelimited(2, lengthDelimited(3, action));
  return Buffer.concat([payloadOf(name, text), virtualHost]);
}
