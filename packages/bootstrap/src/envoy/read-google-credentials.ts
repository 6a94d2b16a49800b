import type {
  DataSource,
  GrpcService_GoogleGrpc,
  GrpcService_GoogleGrpc_SslCredentials,
} from "@xdstp/protos/envoy/core";

import type { BootstrapCredentials } from "../grpc/bootstrap.ts";
import type { Place } from "../grpc/place.ts";
import { inside, unsupportedAt } from "./inside.ts";
import { tlsOf } from "./tls-of.ts";

/** The credentials of a `google_grpc`: absent and local ones are none. */
export function readGoogleCredentials(
  google: GrpcService_GoogleGrpc,
  place: Place,
): BootstrapCredentials {
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
