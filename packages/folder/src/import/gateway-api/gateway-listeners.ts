import type { JsonObject } from "@bufbuild/protobuf";
import { anyHost } from "./hostnames.ts";
import type { KubernetesObjects } from "./kubernetes-objects.ts";
import {
  entriesOf,
  field,
  integerOf,
  isSet,
  itemsOf,
  type KubernetesObject,
  notImported,
  type ObjectNode,
  oneOf,
  reportUnread,
  reportWrong,
  requiredText,
  rootOf,
  textOf,
} from "./object-node.ts";
import { everyOne, type TlsSecrets } from "./tls-secrets.ts";

/** A listener of a Gateway that can be served. */
export interface GatewayListener {
  readonly gateway: KubernetesObject;
  readonly node: ObjectNode;
  readonly name: string;
  readonly port: number;
  readonly protocol: "HTTP" | "HTTPS" | "TLS" | "TCP" | "UDP";
  /** `*` where it has none. */
  readonly hostname: string;
  /** Kinds of routes that may be attached. */
  readonly kinds: ReadonlySet<string>;
  /** The TLS context with which Envoy terminates TLS. Undefined if Envoy does not terminate TLS. */
  readonly tls: JsonObject | undefined;
  /** The names of its certificates as secrets. */
  readonly certificates: readonly string[];
  allowsNamespace(namespace: string): boolean;
}

/** The name of a listener in messages and resources: `shop/edge/http`. */
export function titleOfListener({ gateway, name }: GatewayListener): string {
  return `${gateway.namespace}/${gateway.name}/${name}`;
}

/** Sorts the older object first, then by namespace and name, as the Gateway API resolves conflicts. One without a time is the youngest. */
export function byAge(one: KubernetesObject, other: KubernetesObject): number {
  const [first, second] = [one, other].map(({ created }) => (created === "" ? "~" : created));
  return compareTexts(first ?? "", second ?? "") || compareTexts(nameOf(one), nameOf(other));
}

const nameOf = ({ namespace, name }: KubernetesObject): string => `${namespace}/${name}`;

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The listeners of all Gateways, the older Gateway first. Those that the Gateway API does not accept, or whose certificates are not there, are left out and reported. */
export function gatewayListeners(
  objects: KubernetesObjects,
  secrets: TlsSecrets,
): readonly GatewayListener[] {
  const gateways = [...objects.of("Gateway")].sort(byAge);
  const accepted: GatewayListener[] = [];
  for (const gateway of gateways) {
    const spec = field(rootOf(gateway), "spec");
    reportUnread(spec, [...gatewayFields, ...(isSet(field(spec, "tls")) ? ["tls"] : [])]);
    reportUnread(field(spec, "tls"), ["frontend"]);
    const own = itemsOf(field(spec, "listeners")).flatMap(
      (node) => listenerAt(node, gateway, objects) ?? [],
    );
    const distinct = own.filter((one) => {
      const other = own.find((two) => two !== one && conflicts(one, two));
      if (other !== undefined) reportConflict(one, other);
      return other === undefined;
    });
    for (const one of distinct) {
      const usable = withTls(one, secrets);
      if (usable === undefined) continue;
      const other = accepted.find((two) => conflictsAcross(usable, two));
      if (other === undefined) accepted.push(usable);
      else reportConflict(usable, other);
    }
  }
  return accepted;
}

const gatewayFields = ["gatewayClassName", "listeners"];
const listenerFields = ["name", "hostname", "port", "protocol", "tls", "allowedRoutes"];
const protocols = ["HTTP", "HTTPS", "TLS", "TCP", "UDP"] as const;

/** Without its TLS context. */
function listenerAt(
  node: ObjectNode,
  gateway: KubernetesObject,
  objects: KubernetesObjects,
): GatewayListener | undefined {
  reportUnread(node, listenerFields);
  const name = requiredText(field(node, "name"));
  const port = integerOf(field(node, "port"), 1, 65_535);
  if (port === undefined && !isSet(field(node, "port"))) requiredText(field(node, "port"));
  const written = requiredText(field(node, "protocol"));
  const protocol = protocols.find((one) => one === written);
  const hostname = hostnameAt(field(node, "hostname"));
  if (written !== "" && protocol === undefined)
    notImported(
      field(node, "protocol"),
      `the protocol ${JSON.stringify(written)} is not supported`,
      `write one of ${protocols.join(", ")}`,
    );
  if (hostname !== anyHost && (protocol === "TCP" || protocol === "UDP"))
    notImported(
      field(node, "hostname"),
      `a connection of ${protocol} does not name a host, so all of them are forwarded`,
      "remove it, or write the protocol TLS",
    );
  if (port === undefined || protocol === undefined || hostname === undefined) return undefined;
  const allowed = field(node, "allowedRoutes");
  reportUnread(allowed, ["kinds", "namespaces"]);
  return {
    gateway,
    node,
    name,
    port,
    protocol,
    hostname: protocol === "TCP" || protocol === "UDP" ? anyHost : hostname,
    kinds: kindsOf(field(allowed, "kinds"), kindsFor(protocol, node)),
    tls: undefined,
    certificates: [],
    allowsNamespace: namespacesOf(field(allowed, "namespaces"), gateway, objects),
  };
}

/** A hostname; `*` where none is set, undefined where it is wrong. */
export function hostnameAt(node: ObjectNode): string | undefined {
  const text = textOf(node);
  if (text === undefined) return isSet(node) ? undefined : anyHost;
  if (text === "") return anyHost;
  if (/^(?:\*\.)?[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/.test(text))
    return text;
  reportWrong(node, 'a hostname such as "shop.example" or "*.shop.example"');
  return undefined;
}

function kindsFor(protocol: GatewayListener["protocol"], node: ObjectNode): readonly string[] {
  switch (protocol) {
    case "HTTP":
    case "HTTPS":
      return ["HTTPRoute", "GRPCRoute"];
    case "TLS":
      return modeOf(node) === "Passthrough" ? ["TLSRoute"] : ["TLSRoute", "TCPRoute"];
    case "TCP":
      return ["TCPRoute"];
    case "UDP":
      return ["UDPRoute"];
  }
}

function modeOf(node: ObjectNode): "Terminate" | "Passthrough" | undefined {
  return oneOf(field(node, "tls", "mode"), ["Terminate", "Passthrough"], "Terminate");
}

function kindsOf(list: ObjectNode, usual: readonly string[]): ReadonlySet<string> {
  const items = itemsOf(list);
  if (items.length === 0) return new Set(usual);
  return new Set(
    items.flatMap((item) => {
      const kind = requiredText(field(item, "kind"));
      const group = textOf(field(item, "group")) ?? "gateway.networking.k8s.io";
      if (group === "gateway.networking.k8s.io" && usual.includes(kind)) return [kind];
      notImported(
        item,
        `routes of this kind cannot be attached to the listener`,
        `name kinds among ${usual.join(", ")}`,
      );
      return [];
    }),
  );
}

/** Which namespaces the routes of a listener may be in. */
function namespacesOf(
  node: ObjectNode,
  gateway: KubernetesObject,
  objects: KubernetesObjects,
): (namespace: string) => boolean {
  reportUnread(node, ["from", "selector"]);
  const from = oneOf(field(node, "from"), ["All", "Same", "Selector", "None"], "Same");
  if (from === "All") return () => true;
  if (from === "Same") return (namespace) => namespace === gateway.namespace;
  if (from !== "Selector") return () => false;
  if (!isSet(field(node, "selector")))
    reportWrong(field(node, "selector"), "set, and `from: Selector` needs it");
  const isSelected = selectorAt(field(node, "selector"));
  return (namespace) => {
    const object = objects.get("Namespace", "", namespace);
    const labels =
      object === undefined ? [] : entriesOf(field(rootOf(object), "metadata", "labels"));
    return isSelected(
      new Map([
        ["kubernetes.io/metadata.name", namespace],
        ...labels.map(([key, label]) => [key, textOf(label) ?? ""] as const),
      ]),
    );
  };
}

type Labels = ReadonlyMap<string, string>;

function selectorAt(node: ObjectNode): (labels: Labels) => boolean {
  reportUnread(node, ["matchLabels", "matchExpressions"]);
  const wanted = entriesOf(field(node, "matchLabels")).map(
    ([key, label]) => [key, textOf(label) ?? ""] as const,
  );
  const expressions = itemsOf(field(node, "matchExpressions")).map((item) => {
    const key = requiredText(field(item, "key"));
    const values = itemsOf(field(item, "values")).map((value) => textOf(value) ?? "");
    const operators = ["In", "NotIn", "Exists", "DoesNotExist"] as const;
    const operator = oneOf(field(item, "operator"), operators, "In");
    return (labels: Labels): boolean => {
      const label = labels.get(key);
      if (operator === "In") return label !== undefined && values.includes(label);
      if (operator === "NotIn") return label === undefined || !values.includes(label);
      return operator === "Exists" ? label !== undefined : label === undefined;
    };
  });
  return (labels) =>
    wanted.every(([key, value]) => labels.get(key) === value) &&
    expressions.every((matches) => matches(labels));
}

/** Listeners of one port are of one group: TLS connections say for which of them they are. */
function groupOf({ protocol }: GatewayListener): string {
  return protocol === "HTTPS" ? "TLS" : protocol;
}

function isOnOnePort(one: GatewayListener, other: GatewayListener): boolean {
  return one.port === other.port && (one.protocol === "UDP") === (other.protocol === "UDP");
}

/** Returns true if two listeners of a Gateway conflict, so that neither is accepted. */
function conflicts(one: GatewayListener, other: GatewayListener): boolean {
  if (one.name === other.name) return true;
  return (
    isOnOnePort(one, other) && (groupOf(one) !== groupOf(other) || one.hostname === other.hostname)
  );
}

/** Returns true if the listeners of two Gateways cannot share a port. Listeners with HTTP can share a hostname; listeners with HTTPS can do so if they have the same certificates. */
function conflictsAcross(one: GatewayListener, other: GatewayListener): boolean {
  if (!isOnOnePort(one, other)) return false;
  if (one.protocol !== other.protocol)
    return groupOf(one) !== groupOf(other) || one.hostname === other.hostname;
  if (one.protocol === "HTTP") return false;
  if (one.protocol === "TCP" || one.protocol === "UDP") return true;
  return one.hostname === other.hostname && JSON.stringify(one.tls) !== JSON.stringify(other.tls);
}

function reportConflict(one: GatewayListener, other: GatewayListener): void {
  notImported(
    one.node,
    `it conflicts with the listener ${titleOfListener(other)} on port ${one.port}`,
    "give it another port or hostname",
  );
}

/** The listener with the context that terminates TLS. undefined: its certificates cannot be used, which is reported. */
function withTls(listener: GatewayListener, secrets: TlsSecrets): GatewayListener | undefined {
  const { node, protocol } = listener;
  const tls = field(node, "tls");
  if (protocol !== "HTTPS" && protocol !== "TLS") {
    if (isSet(tls))
      notImported(tls, `a listener of ${protocol} has no TLS`, "write the protocol HTTPS or TLS");
    return listener;
  }
  reportUnread(tls, ["mode", "certificateRefs", "frontendValidation"]);
  const mode = modeOf(node);
  if (mode === undefined) return undefined;
  if (mode === "Passthrough") {
    if (protocol === "TLS") return listener;
    notImported(node, "HTTPS needs the mode Terminate", "write the protocol TLS, with a TLSRoute");
    return undefined;
  }
  const refs = field(tls, "certificateRefs");
  const certificates = everyOne(refs, (reference) => secrets.certificate(reference));
  const validation = validationOf(listener, secrets);
  if (certificates === undefined || validation === undefined) {
    notImported(
      node,
      itemsOf(refs).length === 0
        ? "it has no certificateRefs"
        : "a certificate that it refers to cannot be used",
      "refer to Secrets with tls.crt and tls.key",
    );
    return undefined;
  }
  return {
    ...listener,
    certificates: certificates.map(({ name }) => name),
    tls: {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
      common_tls_context: {
        ...(protocol === "HTTPS" && { alpn_protocols: ["h2", "http/1.1"] }),
        tls_certificate_sds_secret_configs: certificates.map(({ json }) => json),
        ...validation.context,
      },
      ...(validation.isRequired && { require_client_certificate: true }),
    },
  };
}

interface ClientValidation {
  readonly context: JsonObject;
  readonly isRequired: boolean;
}

/** Returns the settings by which certificates of clients are checked: those of the listener, or else those of the Gateway for the port. undefined: the references in them lead to nothing usable. */
function validationOf(
  { gateway, node, port }: GatewayListener,
  secrets: TlsSecrets,
): ClientValidation | undefined {
  const frontend = field(rootOf(gateway), "spec", "tls", "frontend");
  reportUnread(frontend, ["default", "perPort"]);
  const ofPort = itemsOf(field(frontend, "perPort")).find(
    (item) => field(item, "port").value === port,
  );
  const own = field(node, "tls", "frontendValidation");
  const general = ofPort === undefined ? field(frontend, "default") : field(ofPort, "tls");
  const validation = isSet(own) ? own : field(general, "validation");
  if (!isSet(validation)) return { context: {}, isRequired: false };
  reportUnread(validation, ["caCertificateRefs", "mode"]);
  const modes = ["AllowValidOnly", "AllowInsecureFallback"] as const;
  const mode = oneOf(field(validation, "mode"), modes, "AllowValidOnly");
  const authorities = everyOne(field(validation, "caCertificateRefs"), (reference) =>
    secrets.authorities(reference),
  );
  if (authorities === undefined || mode === undefined) return undefined;
  const isRequired = mode === "AllowValidOnly";
  return {
    context: {
      validation_context: {
        trusted_ca: { inline_string: authorities.join("\n") },
        ...(!isRequired && { trust_chain_verification: "ACCEPT_UNTRUSTED" }),
      },
    },
    isRequired,
  };
}
