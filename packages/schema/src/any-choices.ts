import type { DescField, DescMessage, Registry } from "@bufbuild/protobuf";

/** Packages whose messages no configuration has in an Any: requests and responses, dumps, logs, options of descriptors. */
const passedOver = [
  ...["envoy.admin.", "envoy.annotations.", "envoy.data.", "envoy.service.", "envoy.watchdog."],
  ...["buf.", "cel.", "google.api.", "google.rpc.", "io.istio.", "io.prometheus."],
  ...["opencensus.", "opentelemetry.", "udpa.annotations.", "validate.", "xds.annotations."],
  ...["xds.data.", "xds.service."],
];

/** Well-known types that are in an Any somewhere in a configuration; the others describe descriptors. */
const wellKnown: ReadonlySet<string> = new Set(
  ["Any", "BoolValue", "BytesValue", "DoubleValue", "Duration", "Empty", "FloatValue"]
    .concat(["Int32Value", "Int64Value", "ListValue", "StringValue", "Struct", "Timestamp"])
    .concat(["UInt32Value", "UInt64Value", "Value"])
    .map((name) => `google.protobuf.${name}`),
);

const choices = new WeakMap<Registry, readonly DescMessage[]>();

/**
 * The messages of a registry that an Any in a configuration may hold, sorted by name: well-known types, extensions of Envoy, and others that are not the value of a field somewhere, such as resources and types of your own.
 */
export function anyChoices(registry: Registry): readonly DescMessage[] {
  const known = choices.get(registry) ?? findChoices(registry);
  choices.set(registry, known);
  return known;
}

function findChoices(registry: Registry): readonly DescMessage[] {
  const messages = [...registry].filter((type) => type.kind === "message");
  const values = new Set(
    messages.flatMap((desc) => desc.fields.map(({ message }) => message?.typeName)),
  );
  return messages
    .filter(({ typeName, parent }) => {
      if (typeName.startsWith("google.protobuf.")) return wellKnown.has(typeName);
      if (passedOver.some((prefix) => typeName.startsWith(prefix))) return false;
      const isExtension = parent === undefined && typeName.startsWith("envoy.extensions.");
      return isExtension || !values.has(typeName) || inAnyAndField.has(typeName);
    })
    .toSorted((a, b) => (a.typeName < b.typeName ? -1 : 1));
}

/** Messages that are the value of a field in one place, and in an Any in another. */
const inAnyAndField: ReadonlySet<string> = new Set([
  "envoy.config.cluster.v3.Cluster",
  "envoy.config.endpoint.v3.ClusterLoadAssignment",
  "envoy.config.listener.v3.Listener",
  "envoy.config.route.v3.RouteConfiguration",
  "envoy.config.route.v3.VirtualHost",
  "xds.type.matcher.v3.CelMatcher",
  "xds.type.v3.TypedStruct",
]);

/** Extensions by the field whose Any they belong in. Where a field is not listed, all types are suggested. */
const families: readonly (readonly [field: string, family: string, packages: RegExp])[] = [
  [
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter.typed_config",
    "http-filters",
    /^envoy\.extensions\.filters\.http\./,
  ],
  [
    "envoy.config.listener.v3.Filter.typed_config",
    "network-filters",
    /^envoy\.extensions\.filters\.network\./,
  ],
  [
    "envoy.config.cluster.v3.Filter.typed_config",
    "network-filters",
    /^envoy\.extensions\.filters\.network\./,
  ],
  [
    "envoy.config.listener.v3.ListenerFilter.typed_config",
    "listener-filters",
    /^envoy\.extensions\.filters\.(?:listener|udp)\./,
  ],
  [
    "envoy.config.core.v3.TransportSocket.typed_config",
    "transport-sockets",
    /^envoy\.extensions\.transport_sockets\./,
  ],
  [
    "envoy.config.accesslog.v3.AccessLog.typed_config",
    "access-loggers",
    /^envoy\.extensions\.access_loggers\./,
  ],
  [
    "envoy.config.trace.v3.Tracing.Http.typed_config",
    "tracers",
    /^envoy\.(?:config\.trace|extensions\.tracers)\./,
  ],
  [
    "envoy.config.cluster.v3.Cluster.typed_extension_protocol_options",
    "protocol-options",
    /^envoy\.extensions\..*ProtocolOptions$/,
  ],
];

/** May be used instead of an extension of any family. */
const instead: ReadonlySet<string> = new Set([
  "envoy.extensions.common.matching.v3.ExtensionWithMatcher",
  "xds.type.v3.TypedStruct",
]);

/** The type URLs that are suggested for the Any in a field, and a name for them. Types of your own are always among them. */
export function typeSuggestions(
  registry: Registry,
  field: DescField | undefined,
): { readonly name: string; readonly urls: readonly string[] } {
  const path = field === undefined ? "" : `${field.parent.typeName}.${field.name}`;
  const [, name = "all", packages = /^/] = families.find(([of]) => of === path) ?? [];
  const urls = anyChoices(registry)
    .filter(({ typeName }) => packages.test(typeName) || isOwn(typeName) || instead.has(typeName))
    .map(({ typeName }) => `type.googleapis.com/${typeName}`);
  return { name, urls };
}

/** A pattern of the types that are accepted without a suggestion: all but those that look like an extension of Envoy and are not known, such as one with a typing error. */
export function acceptedTypes(registry: Registry): string {
  const prefix = "envoy.extensions.";
  const known = anyChoices(registry)
    .filter(({ typeName, parent }) => parent === undefined && typeName.startsWith(prefix))
    .map(({ typeName }) => typeName.slice(prefix.length));
  const other = String.raw`^(?!type\.googleapis\.com/envoy\.extensions\.[^A-Z]*[A-Z]\w*$)`;
  return `${other}|\\.extensions\\.(${known.join("|")})$`;
}

function isOwn(typeName: string): boolean {
  return !/^(?:envoy|google\.protobuf|udpa|xds)\./.test(typeName);
}
