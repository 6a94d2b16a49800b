import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { messagePathsModule } from "../test/make-message-paths.ts";
import { messagePaths } from "./gen/message-paths.ts";
import { namingFields } from "./naming-fields.ts";

const registry = envoyRegistry();
const named = new Set(namingFields.map(({ message, field }) => `${message}.${field}`));
const sources = new Set(
  namingFields.map(
    ({ message, source = "", sourceIn = message }) => `${sourceIn}.${source.split(".")[0] ?? ""}`,
  ),
);
const messages: readonly DescMessage[] = [...registry]
  .filter((type) => type.kind === "message")
  .filter(({ typeName }) => /^envoy\.(config|extensions)\./.test(typeName));
const bootstrap = /^envoy\.(config\.(bootstrap|metrics)|extensions\.(bootstrap|stat_sinks))\./;

/** Fields that look as if they named a resource, and do not. */
const others: ReadonlySet<string> = new Set([
  // Names that are matched, counted, formatted or proved, never looked up.
  "envoy.config.core.v3.Node.cluster",
  "envoy.config.endpoint.v3.ClusterLoadAssignment.cluster_name",
  "envoy.config.endpoint.v3.ClusterStats.cluster_name",
  "envoy.config.endpoint.v3.ClusterStats.cluster_service_name",
  "envoy.extensions.filters.http.fault.v3.HTTPFault.upstream_cluster",
  "envoy.extensions.filters.network.reverse_tunnel.v3.ReverseTunnel.required_cluster_name",
  "envoy.extensions.filters.network.reverse_tunnel.v3.Validation.cluster_id_format",
  "envoy.extensions.reverse_tunnel_reporters.v3alpha.clients.grpc_client.TunnelInitiatorIdentity.cluster_id",
  // Clusters of Kafka, a type of cluster, a plugin, a key.
  "envoy.extensions.filters.network.kafka_mesh.v3alpha.KafkaClusterDefinition.cluster_name",
  "envoy.extensions.filters.network.kafka_mesh.v3alpha.ForwardingRule.target_cluster",
  "envoy.extensions.clusters.dynamic_modules.v3.ClusterConfig.cluster_name",
  "envoy.config.route.v3.RouteAction.cluster_specifier_plugin",
  "envoy.extensions.common.aws.v3.InlineCredentialProvider.secret_access_key",
  "envoy.extensions.filters.http.aws_lambda.v3.Credentials.secret_access_key",
  "envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilterPerRoute.per_route_config_name",
  // Headers that hold a name.
  "envoy.config.route.v3.RouteAction.cluster_header",
  "envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster_header",
  "envoy.config.route.v3.WeightedCluster.ClusterWeight.cluster_header",
  "envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.cluster_header",
  // Static by rule.
  "envoy.config.core.v3.ApiConfigSource.cluster_names",
  // An internal listener is not waited for: it comes after clusters and endpoints.
  "envoy.config.core.v3.EnvoyInternalAddress.server_listener_name",
  // A namespace to find names in, when a request asks.
  "envoy.extensions.filters.http.on_demand.v3.OnDemandCds.resources_locator",
  "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand.resources_locator",
]);
/** Config sources without a name next to them, or whose name is found otherwise. */
const otherSources: ReadonlySet<string> = new Set([
  "envoy.config.core.v3.ExtensionConfigSource.config_source",
  "envoy.config.cluster.v3.Cluster.lrs_server",
  "envoy.config.cluster.v3.Cluster.EdsClusterConfig.eds_config",
  "envoy.config.route.v3.Vhds.config_source",
  "envoy.extensions.filters.http.on_demand.v3.OnDemandCds.source",
  "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand.odcds_config",
]);

const holdsText = (field: DescField): boolean =>
  field.fieldKind === "map"
    ? field.mapKind !== "message"
    : "scalar" in field && field.scalar === ScalarType.STRING;
const looksLikeName = ({ name }: DescField): boolean =>
  /(^|_)clusters?($|_)|secret_(name|access)|resources?_(name|locator)$|_locator$|route_config.*name|route_configuration_name|listener_name|collection_name/.test(
    name,
  );

describe("messagePaths", () => {
  it("is what the Envoy API says", async () => {
    await expect(messagePathsModule(registry)).toMatchFileSnapshot("gen/message-paths.ts");
  });

  it("leads through known messages only", () => {
    for (const target of Object.values(messagePaths).flatMap((paths) => Object.values(paths))) {
      if (
        target !== "google.protobuf.Any" &&
        !namingFields.some(({ message }) => message === target)
      )
        expect(messagePaths, target).toHaveProperty([target]);
    }
  });
});

describe("namingFields", () => {
  it.each(namingFields)(
    "is a text of the API, beside its source: $message $field",
    ({ message, field, source, sourceIn = message }) => {
      const [number] = field.split(".").map(Number);
      const found = registry
        .getMessage(message)
        ?.fields.find((candidate) => candidate.number === number);
      expect(found?.fieldKind === "map" ? found.mapKey : found?.scalar).toBe(ScalarType.STRING);
      const sourceTypes = pathOfTypes(registry.getMessage(sourceIn), source);
      expect(sourceTypes.at(-1)).toBe(
        source === undefined ? undefined : "envoy.config.core.v3.ConfigSource",
      );
    },
  );

  it("names one resource per message", () => {
    expect(new Set(namingFields.map(({ message }) => message)).size).toBe(namingFields.length);
  });

  it("names types that the API has", () => {
    for (const { typeUrl } of namingFields)
      expect(registry.getMessage(typeUrl.split("/")[1] ?? ""), typeUrl).toBeDefined();
  });

  it("leaves out no field that looks like a reference, but those known to be none", () => {
    const looking = messages
      .filter(({ typeName }) => !bootstrap.test(typeName))
      .flatMap((message) =>
        message.fields.filter((field) => holdsText(field) && looksLikeName(field)),
      );
    const missing = looking
      .filter((field) => !named.has(`${field.parent.typeName}.${field.number}`))
      .map((field) => `${field.parent.typeName}.${field.name}`);
    expect(missing.sort()).toEqual([...others].sort());
  });

  it("leaves out no config source", () => {
    const all = messages
      .flatMap(({ fields }) => fields)
      .filter(
        (field) =>
          /\.(Extension)?ConfigSource$/.test(field.message?.typeName ?? "") &&
          !bootstrap.test(field.parent.typeName),
      );
    const missing = all
      .filter((field) => !sources.has(`${field.parent.typeName}.${field.number}`))
      .map((field) => `${field.parent.typeName}.${field.name}`);
    expect(missing.sort()).toEqual([...otherSources].sort());
  });
});

function pathOfTypes(
  message: DescMessage | undefined,
  path: string | undefined,
): readonly (string | undefined)[] {
  const types: (string | undefined)[] = [];
  let at = message;
  for (const number of path?.split(".").map(Number) ?? []) {
    at = at?.fields.find((field) => field.number === number)?.message;
    types.push(at?.typeName);
  }
  return types;
}
