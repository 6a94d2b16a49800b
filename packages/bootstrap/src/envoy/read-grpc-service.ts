import type {
  DataSource,
  GrpcService,
  GrpcService_EnvoyGrpc,
  GrpcService_GoogleGrpc,
  GrpcService_GoogleGrpc_SslCredentials,
  HeaderValue,
} from "@xdstp/protos/envoy/core";
import type { BootstrapCredentials, BootstrapServer } from "../grpc/bootstrap.ts";
import { inside, type Place, unsupportedAt, wrongAt } from "../grpc/place.ts";
import type { ServerConfig } from "../server-config.ts";
import type { EnvoyBootstrap } from "./config-source.ts";
import { tlsOf } from "./credentials-of-cluster.ts";

/**
 * Returns the servers of a GrpcService: one, or those of its cluster. Timeouts, retries and other
 * tuning of Envoy's own client are ignored.
 */
export function readGrpcService(
  { targetSpecifier: { case: kind, value }, initialMetadata }: GrpcService,
  place: Place,
  clusters: EnvoyBootstrap["clusters"],
): readonly ServerConfig[] {
  const metadata = metadataOf(initialMetadata, inside(place, "initial_metadata"));
  const more = Object.keys(metadata).length > 0 ? { metadata } : {};
  switch (kind) {
    case "googleGrpc":
      return [{ ...googleServer(value, inside(place, "google_grpc")), ...more }];
    case "envoyGrpc":
      return envoyServers(value, inside(place, "envoy_grpc"), clusters).map((server) => ({
        ...server,
        ...more,
      }));
    case undefined:
      throw wrongAt(
        place,
        "has neither google_grpc nor envoy_grpc; give google_grpc with target_uri, or envoy_grpc with cluster_name",
      );
  }
}

function googleServer(google: GrpcService_GoogleGrpc, place: Place): BootstrapServer {
  if (google.targetUri === "") throw wrongAt(place, 'has no target_uri; give one like "host:port"');
  return {
    uri: google.targetUri,
    credentials: readGoogleCredentials(google, place),
    features: new Set(),
  };
}

function envoyServers(
  { clusterName, authority }: GrpcService_EnvoyGrpc,
  place: Place,
  clusters: EnvoyBootstrap["clusters"],
): readonly BootstrapServer[] {
  if (clusterName === "")
    throw wrongAt(place, "has no cluster_name; give the name of a static cluster");
  if (authority !== "")
    throw unsupportedAt(
      inside(place, "authority"),
      "cannot be set here; the address of the cluster is what is sent",
    );
  const servers = clusters(clusterName);
  if (servers === undefined || servers.length === 0)
    throw wrongAt(
      inside(place, "cluster_name"),
      `is ${JSON.stringify(clusterName)}, and this static cluster does not exist; add it under static_resources.clusters`,
    );
  return servers;
}

/** Returns the headers. Values may contain keys, so errors do not show them. */
function metadataOf(
  headers: readonly HeaderValue[],
  place: Place,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headers.map(({ key, value, rawValue }, index) => {
      const at = inside(place, index);
      if (rawValue.length > 0)
        throw unsupportedAt(inside(at, "raw_value"), "cannot be sent; give value");
      if (/%[A-Z]/.test(value))
        throw unsupportedAt(
          inside(at, "value"),
          "holds a command of Envoy (%...%), which is not replaced here; write the value itself",
        );
      return [key.toLowerCase(), value.replaceAll("%%", "%")];
    }),
  );
}

/**
 * Returns the credentials of a `google_grpc`. Without credentials, or with local ones, the
 * connection is insecure.
 */
function readGoogleCredentials(google: GrpcService_GoogleGrpc, place: Place): BootstrapCredentials {
  rejectOthers(google, place);
  const at = inside(place, "channel_credentials");
  const { case: kind, value } = google.channelCredentials?.credentialSpecifier ?? {
    case: undefined,
  };
  switch (kind) {
    case "sslCredentials":
      return sslOf(value, inside(at, "ssl_credentials"));
    case "googleDefault":
      throw unsupportedAt(
        inside(at, "google_default"),
        "needs Google's client; give ssl_credentials or local_credentials",
      );
    case "localCredentials":
    case undefined:
      return { type: "insecure" };
  }
}

function rejectOthers(
  {
    callCredentials,
    callCredentialsPlugin,
    channelCredentialsPlugin,
    credentialsFactoryName,
  }: GrpcService_GoogleGrpc,
  place: Place,
): void {
  const ofCalls = "would be left out; send what the server asks for as initial_metadata";
  if (callCredentials.length > 0) throw unsupportedAt(inside(place, "call_credentials"), ofCalls);
  if (callCredentialsPlugin.length > 0)
    throw unsupportedAt(inside(place, "call_credentials_plugin"), ofCalls);
  if (channelCredentialsPlugin.length > 0)
    throw unsupportedAt(
      inside(place, "channel_credentials_plugin"),
      "would be left out; give channel_credentials",
    );
  if (credentialsFactoryName !== "")
    throw unsupportedAt(
      inside(place, "credentials_factory_name"),
      "would be left out; give channel_credentials",
    );
}

function sslOf(
  { rootCerts, certChain, privateKey }: GrpcService_GoogleGrpc_SslCredentials,
  place: Place,
): BootstrapCredentials {
  const named = (name: string, data: DataSource | undefined) => ({
    data,
    place: inside(place, name),
  });
  return tlsOf(
    {
      ca: named("root_certs", rootCerts),
      cert: named("cert_chain", certChain),
      key: named("private_key", privateKey),
    },
    place,
  );
}
