import { lengthDelimited } from "@xdstp/core/wire";
import { encode, useOrigin, type Origin } from "./use-origin.ts";
import { useFolder } from "./use-folder.ts";

export const typeName = "envoy.config.cluster.v3.Cluster";
const typeUrl = `type.googleapis.com/${typeName}`;

/** Returns the name of a cluster. */
export const of = (authority: string, id: string): string =>
  `xdstp://${authority}/${typeName}/${id}`;
/** Returns the name of a list of clusters. */
export const listOf = (authority: string, id: string): string =>
  `xdstp://${authority}/${typeName}Collection/${id}`;
/** Returns the directive of an alternative. */
export const alt = (locator: string): string =>
  `#alt=${locator.replaceAll("%", "%25").replaceAll("#", "%23").replaceAll(",", "%2C")}`;

/** A server with redirects and lists. */
export interface Lead extends Origin {
  /** Puts a redirect of a cluster, or of a list of clusters. */
  redirect(name: string, to: string): void;
  /** Puts a list. An entry `=name` is an inline cluster; other entries are locators. */
  list(name: string, ...entries: readonly string[]): void;
  /** The names that clients have subscribed to. */
  readonly asked: readonly string[];
}

/** Starts a server for each authority, and writes a bootstrap with these servers to `boot.json` in `dir`. */
export async function useFederation<A extends string>(
  authorities: readonly A[],
  more: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<A, Lead>> & { readonly dir: string }> {
  const leads = await Promise.all(
    authorities.map(async (authority) => [authority, lead(await useOrigin())] as const),
  );
  const server = (uri: string): object => ({
    server_uri: uri,
    channel_creds: [{ type: "insecure" }],
  });
  const all = [
    ...leads.map(([authority, { address }]) => [authority, address] as const),
    ...Object.entries(more),
  ];
  const bootstrap = {
    xds_servers: [server("127.0.0.1:1")],
    node: { id: "n1" },
    authorities: Object.fromEntries(
      all.map(([authority, address]) => [authority, { xds_servers: [server(address)] }]),
    ),
  };
  const { dir } = useFolder({ "boot.json": JSON.stringify(bootstrap) });
  return { dir, ...(Object.fromEntries(leads) as Record<A, Lead>) };
}

/** Adds functions for redirects and lists to a server. */
export function lead(origin: Origin): Lead {
  const asked: string[] = [];
  origin.server.events((event) => {
    if (event.kind === "subscribe") asked.push(...event.added);
  });
  const put = (url: string, name: string, payloadUrl: string, value: Uint8Array): void => {
    origin.cache.commit({
      put: [
        { typeUrl: url, resource: { name, version: "", payload: { typeUrl: payloadUrl, value } } },
      ],
    });
  };
  return {
    ...origin,
    asked,
    redirect(name, to) {
      put(
        name.includes(`/${typeName}Collection/`) ? `${typeUrl}Collection` : typeUrl,
        name,
        "type.googleapis.com/xds.core.v3.ResourceLocator",
        lengthDelimited(1, to),
      );
    },
    list(name, ...entries) {
      put(
        `${typeUrl}Collection`,
        name,
        `${typeUrl}Collection`,
        Buffer.concat(entries.map(entryOf)),
      );
    },
  };
}

function entryOf(entry: string): Uint8Array {
  if (!entry.startsWith("=")) return lengthDelimited(1, lengthDelimited(1, entry));
  const any = Buffer.concat([
    lengthDelimited(1, typeUrl),
    lengthDelimited(2, encode(typeName, { name: entry.slice(1) })),
  ]);
  return lengthDelimited(
    1,
    lengthDelimited(
      2,
      Buffer.concat([
        lengthDelimited(1, entry.slice(1)),
        lengthDelimited(2, "1"),
        lengthDelimited(3, any),
      ]),
    ),
  );
}

/** The `api_type` and the address of a server. */
type Asked = readonly [
  apiType: "AGGREGATED_DELTA_GRPC" | "AGGREGATED_GRPC" | "DELTA_GRPC" | "GRPC",
  address: string,
];

/** Returns an Envoy bootstrap with the servers of authorities, of clusters (`cds_config`) and of listeners (`lds_config`). */
export function envoyBootstrapOf({
  listed = {},
  clusters,
  listeners,
  params = [],
}: {
  readonly listed?: Readonly<Record<string, Asked>>;
  readonly clusters?: Asked;
  readonly listeners?: Asked;
  readonly params?: readonly string[];
}): object {
  const source = ([apiType, address]: Asked): object => ({
    resource_api_version: "V3",
    api_config_source: {
      api_type: apiType,
      transport_api_version: "V3",
      grpc_services: [{ google_grpc: { target_uri: address, stat_prefix: "x" } }],
    },
  });
  return {
    node: { id: "n2", cluster: "web" },
    node_context_params: params,
    config_sources: Object.entries(listed).map(([name, asked]) => ({
      authorities: [{ name }],
      ...source(asked),
    })),
    ...((clusters ?? listeners) !== undefined && {
      dynamic_resources: {
        ...(clusters !== undefined && { cds_config: source(clusters) }),
        ...(listeners !== undefined && { lds_config: source(listeners) }),
      },
    }),
  };
}
