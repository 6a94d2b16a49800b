import type { Registry } from "@bufbuild/protobuf";
import { quote } from "../folder-problem.ts";
import {
  type CheckScene,
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  type Extension,
  finding,
  keyStep,
  type Oneof,
  typeOfExtension,
} from "./envoy-check.ts";
import { unpackAny } from "./visit-messages.ts";

interface Any {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

interface Payload {
  readonly payload: Oneof<string | Uint8Array>;
}

interface HealthCheck {
  readonly healthChecker: Oneof;
}

interface Cluster {
  readonly typedExtensionProtocolOptions: Readonly<Record<string, Any>>;
  readonly http2ProtocolOptions?: object;
  readonly healthChecks: readonly HealthCheck[];
  readonly transportSocket?: Extension;
  readonly transportSocketMatches: readonly { readonly transportSocket?: Extension }[];
  readonly clusterDiscoveryType: Oneof;
  readonly upstreamHttpProtocolOptions?: NameOptions;
}

/** The options to use the host of a request as the TLS server name (SNI), and to check the certificate for it. */
interface NameOptions {
  readonly autoSni: boolean;
  readonly autoSanValidation: boolean;
}

interface ProtocolOptions {
  readonly upstreamHttpProtocolOptions?: NameOptions;
  readonly upstreamProtocolOptions: Oneof<{
    readonly protocolConfig?: Oneof;
    readonly http2ProtocolOptions?: object;
    readonly http3ProtocolOptions?: object;
    readonly alternateProtocolsCacheOptions?: object;
  }>;
}

const clusterType = "envoy.config.cluster.v3.Cluster";
const healthCheck = "envoy.config.core.v3.HealthCheck";
const extensions = "envoy.extensions.";

/** Settings in the protocols and health checks of clusters that Envoy rejects. */
export const clusterProtocolChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-cluster", clusterType, optionKeys),
  envoyCheck("bad-cluster", clusterType, sockets),
  envoyCheck("bad-cluster", clusterType, healthOfGrpc),
  envoyCheck("bad-cluster", clusterType, namesOfProxy),
  envoyCheck("bad-value", `${healthCheck}.HttpHealthCheck`, payloads),
  envoyCheck("bad-value", `${healthCheck}.TcpHealthCheck`, payloads),
  envoyCheck("bad-cluster", `${healthCheck}.HttpHealthCheck`, method),
];

const httpOptions = `${extensions}upstreams.http.v3.HttpProtocolOptions`;
const optionsField = "typed_extension_protocol_options";

/** The keys under which Envoy looks for options of a type. */
const keysOfOptions: ReadonlyMap<string, readonly string[]> = new Map([
  [httpOptions, [httpOptions, "envoy.upstreams.http.http_protocol_options"]],
  [
    `${extensions}upstreams.tcp.v3.TcpProtocolOptions`,
    [
      `${extensions}upstreams.tcp.v3.TcpProtocolOptions`,
      "envoy.upstreams.tcp.tcp_protocol_options",
    ],
  ],
  [
    `${extensions}filters.network.thrift_proxy.v3.ThriftProtocolOptions`,
    ["envoy.filters.network.thrift_proxy"],
  ],
  [
    `${extensions}filters.network.redis_proxy.v3.RedisProtocolOptions`,
    ["envoy.filters.network.redis_proxy", "envoy.redis_proxy"],
  ],
]);

const knownKeys: ReadonlySet<string> = new Set([...keysOfOptions.values()].flat());

function* optionKeys({ typedExtensionProtocolOptions }: Cluster): Iterable<EnvoyFinding> {
  for (const [key, { typeUrl }] of Object.entries(typedExtensionProtocolOptions)) {
    const type = typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
    const [first] = keysOfOptions.get(type) ?? [];
    if (first !== undefined && !knownKeys.has(key))
      yield finding(
        [optionsField, keyStep(key)],
        `${quote(key)} is not the key of ${type}`,
        `write ${quote(first)}`,
      );
  }
}

/** Returns the HTTP options. Envoy reads them only under their full type name. */
function httpOptionsOf(
  { typedExtensionProtocolOptions: options }: Cluster,
  registry: Registry,
): ProtocolOptions | undefined {
  const any = options[httpOptions];
  const message = any && unpackAny(any, registry);
  return message?.desc.typeName === httpOptions
    ? (message.message as unknown as ProtocolOptions)
    : undefined;
}

const rawBuffer = `${extensions}transport_sockets.raw_buffer.v3.RawBuffer`;
const proxySocket = `${extensions}transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport`;
const quicName = "envoy.transport_sockets.quic";

/** Checks that the transport socket fits the protocol: if client and server choose the protocol, it needs TLS, and HTTP/3 needs QUIC. */
function* sockets(cluster: Cluster, { registry }: CheckScene): Iterable<EnvoyFinding> {
  const options = httpOptionsOf(cluster, registry)?.upstreamProtocolOptions;
  const at = [optionsField, keyStep(httpOptions)];
  const isAuto = options?.case === "autoConfig";
  if (isAuto && hasPlainSocket(cluster))
    yield finding(
      [...at, "auto_config"],
      "needs a transport socket with TLS, where client and server choose the protocol",
      "add a transport_socket with UpstreamTlsContext, or set explicit_http_config",
    );
  const path = isAuto ? ["auto_config"] : ["use_downstream_protocol_config"];
  const isHttp3 =
    options?.case === "explicitHttpConfig"
      ? options.value?.protocolConfig?.case === "http3ProtocolOptions"
      : options?.value?.http3ProtocolOptions !== undefined;
  if (!isHttp3) return;
  if (isAuto && options.value?.alternateProtocolsCacheOptions === undefined)
    yield finding(
      [...at, ...path, "http3_protocol_options"],
      "needs alternate_protocols_cache_options next to it",
    );
  const { transportSocket: socket } = cluster;
  const isWrapped = socket !== undefined && typeOfExtension(socket) === proxySocket;
  if (socket?.name !== quicName && !isWrapped)
    yield finding(
      socket === undefined ? at : ["transport_socket"],
      `HTTP/3 needs a transport socket with the name ${quote(quicName)}`,
    );
}

function hasPlainSocket({ transportSocket, transportSocketMatches }: Cluster): boolean {
  return [transportSocket, ...transportSocketMatches.map(({ transportSocket: one }) => one)].some(
    (socket) => socket === undefined || typeOfExtension(socket) === rawBuffer,
  );
}

function* healthOfGrpc(cluster: Cluster, { registry }: CheckScene): Iterable<EnvoyFinding> {
  const index = cluster.healthChecks.findIndex(
    ({ healthChecker }) => healthChecker.case === "grpcHealthCheck",
  );
  if (index === -1) return;
  const options = httpOptionsOf(cluster, registry)?.upstreamProtocolOptions;
  const { value } = options ?? {};
  const isHttp2 =
    options === undefined
      ? cluster.http2ProtocolOptions !== undefined
      : options.case === "explicitHttpConfig"
        ? value?.protocolConfig?.case !== "httpProtocolOptions"
        : options.case === "autoConfig" ||
          value?.http2ProtocolOptions !== undefined ||
          value?.http3ProtocolOptions !== undefined;
  if (!isHttp2)
    yield finding(
      ["health_checks", index, "grpc_health_check"],
      "needs a cluster with HTTP/2",
      `set explicit_http_config.http2_protocol_options in ${optionsField}`,
    );
}

const forwardProxy = `${extensions}clusters.dynamic_forward_proxy.v3.ClusterConfig`;

/** Checks a cluster whose hosts are named by requests: it has to verify the certificates of these hosts. Without options Envoy sets this itself. */
function* namesOfProxy(cluster: Cluster, { registry }: CheckScene): Iterable<EnvoyFinding> {
  const { clusterDiscoveryType: type, upstreamHttpProtocolOptions } = cluster;
  const { typedConfig } = type.case === "clusterType" ? (type.value as Extension) : {};
  const config = typedConfig && unpackAny(typedConfig, registry);
  if (config?.desc.typeName !== forwardProxy) return;
  const { allowInsecureClusterOptions } = config.message as unknown as {
    readonly allowInsecureClusterOptions: boolean;
  };
  const options = httpOptionsOf(cluster, registry);
  if (allowInsecureClusterOptions) return;
  if (options === undefined && upstreamHttpProtocolOptions === undefined) return;
  const names =
    options === undefined ? upstreamHttpProtocolOptions : options.upstreamHttpProtocolOptions;
  if (names?.autoSni === true && names.autoSanValidation) return;
  yield finding(
    options === undefined
      ? ["upstream_http_protocol_options"]
      : [
          optionsField,
          keyStep(httpOptions),
          ...(names === undefined ? [] : ["upstream_http_protocol_options"]),
        ],
    "a dynamic forward proxy needs upstream_http_protocol_options with auto_sni and auto_san_validation",
    "set both to true, or allow_insecure_cluster_options in its cluster_type",
  );
}

/** Checks payloads: bytes in a text field are hexadecimal digits. */
function* payloads({
  send,
  receive,
}: {
  send?: Payload;
  receive: readonly Payload[];
}): Iterable<EnvoyFinding> {
  for (const [at, one] of [
    [["send"], send] as const,
    ...receive.map((part, index) => [["receive", index], part] as const),
  ]) {
    const { case: form, value } = one?.payload ?? {};
    if (form === "text" && typeof value === "string" && !/^(?:[\da-f]{2})*$/i.test(value))
      yield finding([...at, "text"], `${quote(value)} is not bytes in hexadecimal digits`);
  }
}

/** `RequestMethod` of the Envoy API: POST, PUT, OPTIONS, PATCH. */
const methodsWithBody: ReadonlySet<number> = new Set([3, 4, 7, 9]);

function* method({
  send,
  method: one,
}: {
  send?: Payload;
  method: number;
}): Iterable<EnvoyFinding> {
  if (send !== undefined && !methodsWithBody.has(one))
    yield finding(["send"], "needs the method POST, PUT, PATCH or OPTIONS, which have a body");
}
