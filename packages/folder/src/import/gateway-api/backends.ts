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

/** What a route speaks with its backends. */
export type BackendProtocol = "http" | "grpc" | "tcp" | "udp";

/** The Services that routes refer to, as clusters and endpoints. */
export interface Backends {
  /** The name of the cluster of a backendRef. undefined: it cannot be used, which is reported. */
  clusterOf(reference: ObjectNode, protocol: BackendProtocol): string | undefined;
  /** The name of a cluster without endpoints. */
  nowhere(): string;
  /** The resources of all clusters that were requested, in that order. */
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
      const isStream = protocol === "tcp" || protocol === "udp";
      const transport = isStream ? {} : tls.transportOf(service, port.name);
      if (transport === undefined) {
        notImported(
          reference,
          `no connection to the Service ${service.namespace}/${service.name} can be verified`,
          "correct its BackendTLSPolicy",
        );
        return undefined;
      }
      if (!isStream && Object.keys(transport).length === 0) reportPlainText(reference, port);
      const name = `${service.namespace}/${service.name}/${port.number}`;
      // A port for datagrams may have other endpoints than the same number for connections.
      const endpointsName = port.isUdp ? `${name}/udp` : name;
      const found = endpointsOf(service, port, {
        slices: slices.get(`${service.namespace}/${service.name}`) ?? [],
        endpoints: objects.get("Endpoints", service.namespace, service.name),
      });
      const speaks = protocol === "http" && speaksHttp2(port) ? "grpc" : protocol;
      const clusterName = speaks === "http" ? name : `${name}/${speaks}`;
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

/** A BackendTLSPolicy alone says which certificates a backend may have. */
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
  /** Empty where it has none. */
  readonly name: string;
  /** Where its endpoints listen, if it says a number. */
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

/** A port by number; one by name is found by the endpoints. */
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
}

/** Where the endpoints of a port are. */
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
    return { kind: "hosts", endpoints: [{ address, port: port.number, zone: "" }] };
  }
  if (slices.length > 0) {
    const found = slices.flatMap((slice) => endpointsInSlice(slice, port));
    const isNamed = found.some(({ address }) => isIP(address) === 0);
    return { kind: isNamed ? "hosts" : "addresses", endpoints: distinct(found) };
  }
  if (endpoints !== undefined)
    return { kind: "addresses", endpoints: distinct(endpointsInSubsets(endpoints, port)) };
  return byDns(service, port);
}

/** The name that the DNS of a cluster has for each Service. */
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
  return { kind: "hosts", endpoints: [{ address, port: reached, zone: "" }] };
}

/** The namespace and name of the Service of a slice. */
function sliceKey(slice: KubernetesObject): string {
  const labels = field(rootOf(slice), "metadata", "labels");
  const [, label] = entriesOf(labels).find(([key]) => key === "kubernetes.io/service-name") ?? [];
  return `${slice.namespace}/${(label && textOf(label)) ?? ""}`;
}

function endpointsInSlice(slice: KubernetesObject, port: ServicePort): readonly Endpoint[] {
  const root = rootOf(slice);
  const ports = itemsOf(field(root, "ports")).filter((node) => isPort(node, port));
  return ports.flatMap((node) => {
    const number = integerOf(field(node, "port"), 1, 65_535) ?? port.target ?? port.number;
    return itemsOf(field(root, "endpoints"))
      .filter((endpoint) => booleanOf(field(endpoint, "conditions", "ready")) !== false)
      .flatMap((endpoint) =>
        // More than one address of an endpoint are the same endpoint.
        itemsOf(field(endpoint, "addresses"))
          .slice(0, 1)
          .map((address) => ({
            address: requiredText(address),
            port: number,
            zone: textOf(field(endpoint, "zone")) ?? "",
          })),
      );
  });
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

/** Whether a cluster gets its endpoints from the server, and if not, which hosts it resolves. */
function discoveryOf({ kind, endpoints }: Found, name: string): JsonObject {
  if (kind === "addresses")
    return {
      type: "EDS",
      eds_cluster_config: { eds_config: adsSource(), service_name: name },
    };
  return {
    type: "STRICT_DNS",
    dns_lookup_family: "ALL",
    load_assignment: { cluster_name: name, endpoints: localitiesOf(endpoints) },
  };
}

function localitiesOf(endpoints: readonly Endpoint[]): JsonObject[] {
  return Array.from(
    Map.groupBy(endpoints, ({ zone }) => zone),
    ([zone, members]) => ({
      ...(zone !== "" && { locality: { zone } }),
      lb_endpoints: members.map(({ address, port }) => ({
        endpoint: { address: { socket_address: { address, port_value: port } } },
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
