import { isIP } from "node:net";
import type { JsonObject } from "@bufbuild/protobuf";
import { cluster, clusterLoadAssignment } from "@xdstp/resource-types";
import type { JsonResource } from "../json-resource.ts";
import { adsSource } from "../plan-import.ts";
import type { BackendTls } from "./backend-tls.ts";
import type { KubernetesObjects } from "./kubernetes-objects.ts";
import {
  booleanOf,
  dangling,
  entriesOf,
  field,
  integerOf,
  isSet,
  itemsOf,
  type KubernetesObject,
  notImported,
  type ObjectNode,
  requiredText,
  rootOf,
  textOf,
} from "./object-node.ts";
import type { FollowReference } from "./reference-grants.ts";

/** The kind of traffic that a route sends to its backends: requests, the bytes of connections (`passthrough`: with TLS of the client), or datagrams. */
export type BackendProtocol = "http" | "grpc" | "tcp" | "passthrough" | "udp";

/** The Services that routes refer to, translated to clusters and endpoints. */
export interface Backends {
  /** Returns the name of the cluster of a backendRef. undefined: it cannot be used, which is reported. */
  clusterOf(reference: ObjectNode, protocol: BackendProtocol): string | undefined;
  /** Returns the name of a cluster without endpoints. */
  nowhere(): string;
  /** Returns the resources of all clusters that were requested, in that order. */
  resources(): readonly JsonResource[];
}

/** Reads the Services, Endpoints and EndpointSlices among objects. */
export function createBackends(
  objects: KubernetesObjects,
  follow: FollowReference,
  tls: BackendTls,
): Backends {
  const slices = Map.groupBy(objects.of("EndpointSlice"), sliceKey);
  const used = new Map<string, JsonResource>();
  const use = (resource: JsonResource): void => {
    used.set(`${resource.type.typeUrl} ${resource.name}`, resource);
  };
  return {
    clusterOf(reference, protocol) {
      const number = integerOf(field(reference, "port"), 1, 65_535);
      const service = serviceOf(reference, follow);
      const port = service && portOf(reference, number, service);
      if (service === undefined || port === undefined) return undefined;
      reportAffinity(service);
      const isAsSent = protocol === "passthrough" || protocol === "udp";
      const transport = isAsSent ? {} : tls.transportOf(service, port.name);
      if (transport === undefined) {
        notImported(
          reference,
          `no connection to the Service ${service.namespace}/${service.name} can be verified`,
          "correct its BackendTLSPolicy",
        );
        return undefined;
      }
      const isTls = Object.keys(transport).length > 0;
      if (!isAsSent && !isTls) reportPlainText(reference, port);
      const name = `${service.namespace}/${service.name}/${port.number}`;
      // A UDP port may have other endpoints than a TCP port of the same number.
      const endpointsName = port.isUdp ? `${name}/udp` : name;
      const found = endpointsOf(service, port, {
        slices: slices.get(`${service.namespace}/${service.name}`) ?? [],
        endpoints: objects.get("Endpoints", service.namespace, service.name),
      });
      const speaks = protocol === "http" && speaksHttp2(port) ? "grpc" : protocol;
      const clusterName = `${name}${suffixOf(speaks, isTls)}`;
      use({
        type: cluster,
        name: clusterName,
        json: {
          name: clusterName,
          ...discoveryOf(found, endpointsName),
          ...(speaks === "grpc" && http2Options()),
          ...transport,
        },
      });
      if (found.kind === "addresses")
        use({
          type: clusterLoadAssignment,
          name: endpointsName,
          json: { cluster_name: endpointsName, endpoints: localitiesOf(found.endpoints) },
        });
      return clusterName;
    },
    nowhere() {
      const name = "xdstp/no-backend";
      use({ type: cluster, name, json: { name, type: "STATIC" } });
      return name;
    },
    resources: () => [...used.values()],
  };
}

/** Returns the suffix of a cluster name. A Service may receive requests and connections, which need different clusters. */
function suffixOf(protocol: BackendProtocol, isTls: boolean): string {
  switch (protocol) {
    case "http":
      return "";
    case "tcp":
      return isTls ? "/tls" : "/tcp";
    case "passthrough":
      return "/tcp";
    default:
      return `/${protocol}`;
  }
}

function serviceOf(reference: ObjectNode, follow: FollowReference): KubernetesObject | undefined {
  const group = textOf(field(reference, "group")) ?? "";
  const kind = textOf(field(reference, "kind")) ?? "Service";
  const name = requiredText(field(reference, "name"));
  if (group !== "" || kind !== "Service") {
    notImported(
      reference,
      `backends of the kind ${JSON.stringify(kind)} are not supported`,
      "refer to a Service, of the type ExternalName where it is outside",
    );
    return undefined;
  }
  const namespace = textOf(field(reference, "namespace")) ?? reference.object.namespace;
  return follow(reference, { kind: "Service", namespace, name });
}

function reportAffinity(service: KubernetesObject): void {
  const affinity = field(rootOf(service), "spec", "sessionAffinity");
  if (textOf(affinity) === "ClientIP")
    notImported(
      affinity,
      "requests of a client may reach several endpoints",
      "write lb_policy: RING_HASH into the cluster, and hash_policy into its routes",
    );
}

/** Reports a port that expects TLS but has no BackendTLSPolicy: only a policy defines which certificates a backend may have. */
function reportPlainText(reference: ObjectNode, { appProtocol }: ServicePort): void {
  if (appProtocol === "https" || appProtocol === "kubernetes.io/wss")
    notImported(
      reference,
      `the appProtocol of the port is ${JSON.stringify(appProtocol)}, and no BackendTLSPolicy has the Service, so requests are sent without TLS`,
      "add a BackendTLSPolicy",
    );
}

interface ServicePort {
  readonly number: number;
  /** The name. Empty: it has none. */
  readonly name: string;
  /** The port on which its endpoints listen, if it is a number. */
  readonly target: number | undefined;
  readonly appProtocol: string;
  readonly isUdp: boolean;
}

function portOf(
  reference: ObjectNode,
  number: number | undefined,
  service: KubernetesObject,
): ServicePort | undefined {
  if (number === undefined) {
    if (!isSet(field(reference, "port")))
      dangling(reference, "refers to a Service without a port", "add the port of the Service");
    return undefined;
  }
  const ports = itemsOf(field(rootOf(service), "spec", "ports"));
  const wantsUdp = reference.object.kind === "UDPRoute";
  const found = ports
    .map((node) => ({
      number: integerOf(field(node, "port"), 1, 65_535),
      name: textOf(field(node, "name")) ?? "",
      target: numberIn(field(node, "targetPort")),
      appProtocol: textOf(field(node, "appProtocol")) ?? "",
      isUdp: textOf(field(node, "protocol")) === "UDP",
    }))
    .find((port) => port.number === number && port.isUdp === wantsUdp);
  if (found === undefined) {
    if (isExternal(service) && ports.length === 0)
      return { number, name: "", target: undefined, appProtocol: "", isUdp: wantsUdp };
    dangling(
      reference,
      `refers to port ${number}, which the Service ${service.namespace}/${service.name} does not have for ${wantsUdp ? "UDP" : "TCP"}`,
      "name a port of the Service",
    );
    return undefined;
  }
  return { ...found, number };
}

/** Returns a port that is a number. A named port is found through the endpoints. */
function numberIn({ value }: ObjectNode): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function speaksHttp2({ appProtocol }: ServicePort): boolean {
  return appProtocol === "kubernetes.io/h2c" || appProtocol === "grpc";
}

interface Endpoint {
  readonly address: string;
  readonly port: number;
  readonly zone: string;
  /** Other addresses of the same pod, of another family. */
  readonly others: readonly string[];
}

/** The endpoints of a port: addresses, or host names that Envoy has to resolve. */
type Found =
  | { readonly kind: "addresses"; readonly endpoints: readonly Endpoint[] }
  | { readonly kind: "hosts"; readonly endpoints: readonly Endpoint[] };

function isExternal(service: KubernetesObject): boolean {
  return textOf(field(rootOf(service), "spec", "type")) === "ExternalName";
}

function endpointsOf(
  service: KubernetesObject,
  port: ServicePort,
  {
    slices,
    endpoints,
  }: {
    readonly slices: readonly KubernetesObject[];
    readonly endpoints: KubernetesObject | undefined;
  },
): Found {
  if (isExternal(service)) {
    const address = requiredText(field(rootOf(service), "spec", "externalName"));
    return { kind: "hosts", endpoints: [{ address, port: port.number, zone: "", others: [] }] };
  }
  if (slices.length > 0) {
    const found = endpointsInSlices(slices, service, port);
    const isNamed = found.some(({ address }) => isIP(address) === 0);
    return { kind: isNamed ? "hosts" : "addresses", endpoints: distinct(found) };
  }
  if (endpoints !== undefined)
    return { kind: "addresses", endpoints: distinct(endpointsInSubsets(endpoints, port)) };
  return byDns(service, port);
}

/** Returns the DNS name that Kubernetes gives to each Service. */
function byDns(service: KubernetesObject, port: ServicePort): Found {
  const spec = field(rootOf(service), "spec");
  const address = `${service.name}.${service.namespace}.svc.cluster.local`;
  const isHeadless = textOf(field(spec, "clusterIP")) === "None";
  notImported(
    rootOf(service),
    `the files have no EndpointSlice of it, so Envoy resolves ${address}`,
    "run Envoy in the cluster, or give the EndpointSlices: kubectl get endpointslices -o yaml",
  );
  const reached = isHeadless ? (port.target ?? port.number) : port.number;
  return { kind: "hosts", endpoints: [{ address, port: reached, zone: "", others: [] }] };
}

/** Returns the namespace and name of the Service of a slice. */
function sliceKey(slice: KubernetesObject): string {
  const labels = field(rootOf(slice), "metadata", "labels");
  const [, label] = entriesOf(labels).find(([key]) => key === "kubernetes.io/service-name") ?? [];
  return `${slice.namespace}/${(label && textOf(label)) ?? ""}`;
}

/** An endpoint in a slice. */
interface SliceEndpoint extends Endpoint {
  /** `IPv4`, `IPv6` or `FQDN`. */
  readonly family: string;
  /** The name of its pod. Empty: the slice does not name one. */
  readonly pod: string;
}

/**
 * Returns the endpoints of all slices of a Service. A Service with two address families has slices for each.
 * A pod in both is one endpoint, with the address of the family that is first in the Service. Envoy tries the other address next. Without pod names only the first family is used, since each pod would be counted twice.
 */
function endpointsInSlices(
  slices: readonly KubernetesObject[],
  service: KubernetesObject,
  port: ServicePort,
): readonly Endpoint[] {
  const written = field(rootOf(service), "spec", "ipFamilies");
  const families = itemsOf(written).map((node) => textOf(node));
  const rankOf = ({ family }: SliceEndpoint): number => {
    const at = families.indexOf(family);
    return at === -1 ? families.length : at;
  };
  const found = slices
    .flatMap((slice) => endpointsInSlice(slice, port))
    .sort((one, other) => rankOf(one) - rankOf(other));
  const first = found[0]?.family;
  const isRepeated = ({ pod, family }: SliceEndpoint): boolean =>
    pod === "" && families.length > 1 && family !== first;
  const repeated = found.find(isRepeated);
  if (repeated !== undefined)
    notImported(
      written,
      `endpoints with ${repeated.family} name no pod, and may be those with ${first ?? ""}, so they get no requests`,
      "add their targetRef to the EndpointSlices, or add them to the written files",
    );
  return Array.from(
    Map.groupBy(found, ({ pod, port: number, address }) => `${pod || address} ${number}`).values(),
  ).flatMap((same) => {
    const [main] = same;
    if (main === undefined || isRepeated(main)) return [];
    const others = same.filter(({ family }) => family !== main.family);
    return [{ ...main, others: [...new Set(others.map(({ address }) => address))] }];
  });
}

function endpointsInSlice(slice: KubernetesObject, port: ServicePort): readonly SliceEndpoint[] {
  const root = rootOf(slice);
  const family = textOf(field(root, "addressType")) ?? "IPv4";
  const ports = itemsOf(field(root, "ports")).filter((node) => isPort(node, port));
  return ports.flatMap((node) => {
    const number = integerOf(field(node, "port"), 1, 65_535) ?? port.target ?? port.number;
    return itemsOf(field(root, "endpoints"))
      .filter((endpoint) => booleanOf(field(endpoint, "conditions", "ready")) !== false)
      .flatMap((endpoint) =>
        // All addresses of an endpoint are those of the same pod.
        itemsOf(field(endpoint, "addresses"))
          .slice(0, 1)
          .map((address) => ({
            address: requiredText(address),
            port: number,
            zone: textOf(field(endpoint, "zone")) ?? "",
            others: [],
            family,
            pod: podOf(field(endpoint, "targetRef")),
          })),
      );
  });
}

function podOf(reference: ObjectNode): string {
  const [kind, namespace, name] = (["kind", "namespace", "name"] as const).map(
    (key) => textOf(field(reference, key)) ?? "",
  );
  return kind === "Pod" ? `${namespace}/${name}` : "";
}

function endpointsInSubsets(object: KubernetesObject, port: ServicePort): readonly Endpoint[] {
  return itemsOf(field(rootOf(object), "subsets")).flatMap((subset) =>
    itemsOf(field(subset, "ports"))
      .filter((node) => isPort(node, port))
      .flatMap((node) =>
        itemsOf(field(subset, "addresses")).map((address) => ({
          address: requiredText(field(address, "ip")),
          port: integerOf(field(node, "port"), 1, 65_535) ?? port.number,
          zone: "",
          others: [],
        })),
      ),
  );
}

function isPort(node: ObjectNode, { name, isUdp }: ServicePort): boolean {
  const own = textOf(field(node, "name")) ?? "";
  return own === name && (textOf(field(node, "protocol")) === "UDP") === isUdp;
}

function distinct(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return [
    ...new Map(endpoints.map((one) => [`${one.address} ${one.port}`, one] as const)).values(),
  ];
}

/** Returns the fields of a cluster that receives its endpoints from the server, or that resolves host names. */
function discoveryOf({ kind, endpoints }: Found, name: string): JsonObject {
  if (kind === "addresses")
    return {
      type: "EDS",
      eds_cluster_config: { eds_config: adsSource(), service_name: name },
    };
  return {
    type: "STRICT_DNS",
    dns_lookup_family: "ALL",
    // A host has no additional addresses.
    load_assignment: {
      cluster_name: name,
      endpoints: localitiesOf(endpoints.map((one) => ({ ...one, others: [] }))),
    },
  };
}

function localitiesOf(endpoints: readonly Endpoint[]): JsonObject[] {
  return Array.from(
    Map.groupBy(endpoints, ({ zone }) => zone),
    ([zone, members]) => ({
      ...(zone !== "" && { locality: { zone } }),
      lb_endpoints: members.map(({ address, port, others }) => ({
        endpoint: {
          address: { socket_address: { address, port_value: port } },
          ...(others.length > 0 && {
            additional_addresses: others.map((other) => ({
              address: { socket_address: { address: other, port_value: port } },
            })),
          }),
        },
      })),
    }),
  );
}

function http2Options(): JsonObject {
  const name = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  return {
    typed_extension_protocol_options: {
      [name]: {
        "@type": `type.googleapis.com/${name}`,
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
  };
}
