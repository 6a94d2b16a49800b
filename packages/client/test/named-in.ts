import { fromBinary } from "@bufbuild/protobuf";
import { Cluster_DiscoveryType, type Cluster } from "@xdstp/protos/envoy/cluster";
import { HttpConnectionManagerSchema } from "@xdstp/protos/envoy/http-connection-manager";
import type { Listener } from "@xdstp/protos/envoy/listener";
import type { RouteConfiguration } from "@xdstp/protos/envoy/route";
import { UpstreamTlsContextSchema } from "@xdstp/protos/envoy/tls";

import { clusterUrl, endpointsUrl, listenerUrl, routesUrl, secretUrl } from "./envoy-resources.ts";

type Named = readonly (readonly [typeUrl: string, name: string])[];

function inListener({ apiListener }: Listener): Named {
  const { routeSpecifier } = fromBinary(
    HttpConnectionManagerSchema,
    apiListener?.apiListener?.value ?? new Uint8Array(),
  );
  return routeSpecifier.case === "rds" ? [[routesUrl, routeSpecifier.value.routeConfigName]] : [];
}

function inRoutes({ virtualHosts }: RouteConfiguration): Named {
  const actions = virtualHosts.flatMap(({ routes }) => routes.map(({ action }) => action));
  return actions.flatMap((action) =>
    action.case === "route" && action.value.clusterSpecifier.case === "cluster"
      ? [[clusterUrl, action.value.clusterSpecifier.value] as const]
      : [],
  );
}

function inCluster({
  name,
  clusterDiscoveryType,
  edsClusterConfig,
  transportSocket,
}: Cluster): Named {
  const isEds =
    clusterDiscoveryType.case === "type" &&
    clusterDiscoveryType.value === Cluster_DiscoveryType.EDS;
  const service =
    edsClusterConfig === undefined || edsClusterConfig.serviceName === ""
      ? name
      : edsClusterConfig.serviceName;
  const { commonTlsContext } = fromBinary(
    UpstreamTlsContextSchema,
    transportSocket?.configType.value?.value ?? new Uint8Array(),
  );
  const secrets = commonTlsContext?.tlsCertificateSdsSecretConfigs ?? [];
  return [
    ...(isEds ? [[endpointsUrl, service] as const] : []),
    ...secrets.map((secret) => [secretUrl, secret.name] as const),
  ];
}

const readers: Readonly<Record<string, (message: never) => Named>> = {
  [listenerUrl]: inListener,
  [routesUrl]: inRoutes,
  [clusterUrl]: inCluster,
};

/**
 * Returns the names in a decoded resource, as a program would look for them. Knows the resources of
 * `envoy-resources`, and shares no code with the library.
 */
export function namedIn(typeUrl: string, message: unknown): Named {
  return readers[typeUrl]?.(message as never) ?? [];
}
