import type { Resource } from "@xdstp/core";
import {
  cluster as clusterType,
  listener as listenerType,
  routeConfiguration,
  virtualHost as virtualHostType,
} from "@xdstp/resource-types";
import { parseName, typeFromTypeUrl } from "@xdstp/uri";

import type { Make } from "./on-demand-feed.ts";
import { cluster, listener, redirect, routes, virtualHost, welcome } from "./resources.ts";
import type { Shop, Shops } from "./shops.ts";

/** Whose names with `xdstp://` are answered. */
export const authority = "shops.example";
const resourceType = typeFromTypeUrl(virtualHostType.typeUrl) ?? "";
const route = "shops";

/** The one virtual host that Envoy gets unasked: its listener is ready as soon as it has one, and without any it waits for 15 s. */
export const firstHost = `${route}/welcome.example`;

/** The key of a lookup, with the attribute `host` or `vip`. */
export const anyHost = `xdstp://${authority}/${resourceType}/any`;

/** The resources of names. */
export function makeResources(shops: Shops): Make {
  const makers: Readonly<Record<string, (name: string) => Resource | undefined>> = {
    [listenerType.typeUrl]: (name) => (name === "*" ? listener("edge", route) : undefined),
    [routeConfiguration.typeUrl]: (name) => (name === route ? routes(name) : undefined),
    [virtualHostType.typeUrl]: (name) =>
      name.startsWith("xdstp:") ? byLocator(name, shops) : byHost(name, shops),
    [clusterType.typeUrl]: (name) => byCluster(name, shops),
  };
  return (typeUrl, name) => {
    const made = makers[typeUrl]?.(name);
    return made === undefined ? [] : [made];
  };
}

/** Envoy asks for `<route configuration>/<host>` (S-ALIAS-5), and gets the virtual host of the shop, named by its main host; the others are its aliases. */
function byHost(name: string, shops: Shops): Resource | undefined {
  if (name === "*" || name === firstHost) return welcome(firstHost, "welcome.example");
  const nameOf = (host: string): string => `${route}/${host}`;
  return ifOpen(shops.byHost(name.slice(nameOf("").length)), (shop) =>
    virtualHost(nameOf(shop.hosts[0]), shop, shop.hosts.slice(1).map(nameOf)),
  );
}

/** Programs ask with an attribute of what they met (C-CTX-5). Names with `xdstp://` have no aliases (B-ALIAS-4): a redirect leads to the one virtual host of the shop. */
function byLocator(name: string, shops: Shops): Resource | undefined {
  const parsed = parseName(name);
  if (!parsed.ok) return undefined;
  const { id, contextParams } = parsed.value;
  if (id !== "any") return ifOpen(shops.byHost(id), (shop) => virtualHost(name, shop));
  const shop =
    shops.byHost(contextParams.get("xds.resource.host") ?? "") ??
    shops.byVip(contextParams.get("xds.resource.vip") ?? "");
  return ifOpen(shop, ({ hosts }) => redirect(name, { authority, resourceType, id: hosts[0] }));
}

/** Clusters are named by the main host. */
function byCluster(name: string, shops: Shops): Resource | undefined {
  const port = shops.byHost(name)?.port;
  return port === undefined ? undefined : cluster(name, port);
}

function ifOpen(shop: Shop | undefined, make: (shop: Shop) => Resource): Resource | undefined {
  return shop === undefined ? undefined : make(shop);
}
