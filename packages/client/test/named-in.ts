import { fromBinary, type DescMessage } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";

import type { WatchedType } from "../src/index.ts";
import { clusterUrl, endpointsUrl, listenerUrl, routesUrl, secretUrl } from "./envoy-resources.ts";

interface AnyValue { readonly typeUrl: string; readonly value: Uint8Array }
interface Listener { readonly apiListener?: { readonly apiListener?: AnyValue } }
interface Manager { readonly routeSpecifier: { readonly case?: string; readonly value?: { readonly routeConfigName: string } } }
interface Routes { readonly virtualHosts: readonly { readonly routes: readonly { readonly action: { readonly value?: { readonly clusterSpecifier: { readonly value?: unknown } } } }[] }[] }
interface Cluster {
  readonly name: string;
  readonly clusterDiscoveryType: { readonly case?: string; readonly value?: unknown };
  readonly edsClusterConfig?: { readonly serviceName: string };
  readonly transportSocket?: { readonly configType: { readonly value?: AnyValue } };
}
interface Tls { readonly commonTlsContext?: { readonly tlsCertificateSdsSecretConfigs: readonly { readonly name: string }[] } }

function schemaOf(typeUrl: string): DescMessage {
  const found = envoyRegistry().getMessage(typeUrl.slice(typeUrl.indexOf("/") + 1));
  if (found === undefined) throw new Error(`the registry has no ${typeUrl}`);
  return found;
}

/** A type over a schema of the registry: its messages are protobuf-es', without their static types. */
export function typeOver(typeUrl: string): WatchedType<unknown> {
  const schema = schemaOf(typeUrl);
  return { typeUrl, decode: (payload) => fromBinary(schema, payload) };
}

const unpack = ({ typeUrl, value }: AnyValue): unknown => fromBinary(schemaOf(typeUrl), value);

/** What a message names, as a program would look for it: each as type URL and name. Knows the resources of `envoy-resources`, and nothing of how the library finds references. */
const readers: Readonly<Record<string, (message: never) => readonly (readonly [string, string])[]>> = {
  [listenerUrl]({ apiListener }: Listener) {
    const manager = apiListener?.apiListener && unpack(apiListener.apiListener) as Manager;
    return manager?.routeSpecifier.case === "rds" ? [[routesUrl, manager.routeSpecifier.value?.routeConfigName ?? ""]] : [];
  },
  [routesUrl]: ({ virtualHosts }: Routes) => virtualHosts.flatMap(({ routes }) => routes.map(({ action }) => [clusterUrl, String(action.value?.clusterSpecifier.value)] as const)),
  [clusterUrl]({ name, clusterDiscoveryType, edsClusterConfig, transportSocket }: Cluster) {
    const isEds = clusterDiscoveryType.case === "type" && clusterDiscoveryType.value === 3;
    const tls = transportSocket?.configType.value && unpack(transportSocket.configType.value) as Tls;
    const secrets = tls?.commonTlsContext?.tlsCertificateSdsSecretConfigs ?? [];
    const service = edsClusterConfig === undefined || edsClusterConfig.serviceName === "" ? name : edsClusterConfig.serviceName;
    return [...(isEds ? [[endpointsUrl, service] as const] : []), ...secrets.map((secret) => [secretUrl, secret.name] as const)];
  },
  [endpointsUrl]: () => [],
  [secretUrl]: () => [],
};

/** What a decoded resource names. */
export function namedIn(typeUrl: string, message: unknown): readonly (readonly [typeUrl: string, name: string])[] {
  return readers[typeUrl]?.(message as never) ?? [];
}
