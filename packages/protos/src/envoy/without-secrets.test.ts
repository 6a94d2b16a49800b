import { create, type JsonObject, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { anyFromJson, anyToJson, envoyRegistry, withoutSecrets } from "./index.ts";

const registry = envoyRegistry();
const url = (name: string): string => `type.googleapis.com/${name}`;
const tls = "envoy.extensions.transport_sockets.tls.v3";

/** What is left to be seen of a message. */
function shown(type: string, json: JsonObject): JsonValue {
  const { typeUrl, value } = withoutSecrets(
    anyFromJson({ "@type": url(type), ...json }, registry),
    registry,
  );
  const { "@type": shownType, ...rest } = anyToJson(
    create(AnySchema, { typeUrl, value }),
    registry,
  ) as JsonObject;
  expect(shownType).toBe(url(type));
  return rest;
}

const key = { inlineString: "PRIVATE" };
const gone = { inlineString: "[redacted]" };

describe("withoutSecrets()", () => {
  it("hides keys and passwords of a Secret, and shows what is public in it [B-CSDS-7]", () => {
    const secret = {
      name: "s",
      tlsCertificate: {
        certificateChain: { inlineString: "PUBLIC" },
        privateKey: key,
        password: { inlineBytes: "c2VjcmV0" },
        pkcs12: { filename: "/etc/key" },
      },
    };
    expect(shown(`${tls}.Secret`, secret)).toEqual({
      name: "s",
      tlsCertificate: {
        certificateChain: { inlineString: "PUBLIC" },
        privateKey: gone,
        password: { inlineBytes: "W3JlZGFjdGVkXQ==" },
        pkcs12: { filename: "[redacted]" },
      },
    });
    expect(
      shown(`${tls}.Secret`, { name: "g", genericSecret: { secret: key, secrets: { one: key } } }),
    ).toEqual({ name: "g", genericSecret: { secret: gone, secrets: { one: gone } } });
    expect(shown(`${tls}.Secret`, { name: "t", sessionTicketKeys: { keys: [key, key] } })).toEqual({
      name: "t",
      sessionTicketKeys: { keys: [gone, gone] },
    });
  });

  it("hides a key inside of a transport socket inside of a cluster [B-CSDS-7]", () => {
    const socket = (privateKey: JsonObject): JsonObject => ({
      name: "tls",
      typedConfig: {
        "@type": url(`${tls}.UpstreamTlsContext`),
        sni: "a",
        commonTlsContext: { tlsCertificates: [{ privateKey }] },
      },
    });
    expect(
      shown("envoy.config.cluster.v3.Cluster", { name: "c", transportSocket: socket(key) }),
    ).toEqual({ name: "c", transportSocket: socket(gone) });
  });

  it("hides texts, maps, lists of messages and Anys that are marked, and access tokens that are not [B-CSDS-7]", () => {
    expect(
      shown("envoy.extensions.common.aws.v3.InlineCredentialProvider", {
        accessKeyId: "id",
        secretAccessKey: "x",
      }),
    ).toEqual({ accessKeyId: "id", secretAccessKey: "[redacted]" });
    expect(
      shown("envoy.extensions.filters.http.ext_authz.v3.CheckSettings", {
        contextExtensions: { a: "x" },
      }),
    ).toEqual({ contextExtensions: { a: "[redacted]" } });
    expect(
      shown("envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuthPerRoute", {
        credentials: [{ key: "x", client: "c" }],
      }),
    ).toEqual({ credentials: [{ key: "[redacted]", client: "[redacted]" }] });
    const typedConfig = { "@type": url(`${tls}.UpstreamTlsContext`), sni: "x" };
    expect(shown(`${tls}.PrivateKeyProvider`, { providerName: "p", typedConfig })).toEqual({
      providerName: "p",
      typedConfig: { "@type": url(`${tls}.UpstreamTlsContext`) },
    });
    expect(
      shown("envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials", { accessToken: "x" }),
    ).toEqual({ accessToken: "[redacted]" });
  });

  it("hides credentials that the API does not mark: of AWS, of gRPC, of tracers, and keys that may be symmetric [B-CSDS-7]", () => {
    const grpc = "envoy.extensions.grpc_service.call_credentials";
    expect(
      shown("envoy.extensions.filters.http.aws_lambda.v3.Credentials", {
        accessKeyId: "id",
        secretAccessKey: "x",
        sessionToken: "x",
      }),
    ).toEqual({ accessKeyId: "id", secretAccessKey: "[redacted]", sessionToken: "[redacted]" });
    expect(shown(`${grpc}.access_token.v3.AccessTokenCredentials`, { token: "x" })).toEqual({
      token: "[redacted]",
    });
    expect(
      shown(`${grpc}.google_refresh_token.v3.GoogleRefreshTokenCredentials`, { token: "x" }),
    ).toEqual({ token: "[redacted]" });
    expect(
      shown(`${grpc}.google_iam.v3.GoogleIamCredentials`, {
        authorizationToken: "x",
        authoritySelector: "a",
      }),
    ).toEqual({ authorizationToken: "[redacted]", authoritySelector: "a" });
    expect(
      shown(`${grpc}.service_account_jwt_access.v3.ServiceAccountJwtAccessCredentials`, {
        jsonKey: "x",
      }),
    ).toEqual({ jsonKey: "[redacted]" });
    expect(
      shown("envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials", {
        googleIam: { authorizationToken: "x", authoritySelector: "a" },
      }),
    ).toEqual({ googleIam: { authorizationToken: "[redacted]", authoritySelector: "a" } });
    expect(
      shown("envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials", {
        serviceAccountJwtAccess: { jsonKey: "x" },
      }),
    ).toEqual({ serviceAccountJwtAccess: { jsonKey: "[redacted]" } });
    expect(
      shown("envoy.config.trace.v3.LightstepConfig", { collectorCluster: "c", accessToken: key }),
    ).toEqual({ collectorCluster: "c", accessToken: gone });
    expect(
      shown("envoy.extensions.filters.http.jwt_authn.v3.JwtProvider", {
        issuer: "i",
        localJwks: key,
      }),
    ).toEqual({ issuer: "i", localJwks: gone });
  });

  it("hides the values of headers that carry credentials, and no others [B-CSDS-7]", () => {
    const headers = (value: string): JsonObject[] =>
      ["Authorization", "proxy-authorization", "cookie", "x-api-key", "lightstep-access-token"].map(
        (name) => ({ key: name, value }),
      );
    const plain = { key: "x-team", value: "a" };
    const grpcService = (initialMetadata: JsonObject[]): JsonObject => ({
      envoyGrpc: { clusterName: "c" },
      initialMetadata,
    });
    expect(
      shown("envoy.config.core.v3.GrpcService", grpcService([...headers("x"), plain])),
    ).toEqual(grpcService([...headers("[redacted]"), plain]));
    const added = (header: JsonObject): JsonObject => ({
      name: "r",
      requestHeadersToAdd: [{ header }],
    });
    expect(
      shown(
        "envoy.config.route.v3.RouteConfiguration",
        added({ key: "x-api-key", rawValue: "c2VjcmV0" }),
      ),
    ).toEqual(added({ key: "x-api-key", rawValue: "W3JlZGFjdGVkXQ==" }));
  });

  it("gives back the same object, byte for byte, where there is nothing to hide [B-CSDS-2]", () => {
    const any = anyFromJson(
      {
        "@type": url("envoy.config.cluster.v3.Cluster"),
        name: "c",
        connectTimeout: "1s",
        transportSocket: {
          name: "x",
          typedConfig: { "@type": url(`${tls}.UpstreamTlsContext`), sni: "a" },
        },
      },
      registry,
    );
    expect(withoutSecrets(any, registry)).toBe(any);
    const empty = create(AnySchema, { typeUrl: url("a.Unknown") });
    expect(withoutSecrets(empty, registry)).toBe(empty);
  });

  it("leaves out what it cannot search: unknown types, unknown fields, bytes of another type, Anys without end [B-CSDS-7]", () => {
    const of = (name: string, value: Uint8Array): Uint8Array =>
      withoutSecrets({ typeUrl: url(name), value }, registry).value;
    expect(of("a.Unknown", Uint8Array.of(10, 1, 65))).toHaveLength(0);
    expect(of("envoy.config.cluster.v3.Cluster", Uint8Array.of(10, 9))).toHaveLength(0);
    expect(of(`${tls}.GenericSecret`, Uint8Array.of(0xfa, 0x7f, 1, 65))).toHaveLength(0);
    let nested = anyFromJson({ "@type": url(`${tls}.Secret`), name: "deepest" }, registry);
    for (let depth = 0; depth < 60; depth++)
      nested = create(AnySchema, { typeUrl: url("google.protobuf.Any"), value: wrapped(nested) });
    expect(Buffer.from(of("google.protobuf.Any", wrapped(nested))).includes("deepest")).toBe(false);
  });

  it("looks into JSON that stands for a message, and leaves it out where it holds a secret or is of an unknown type [B-CSDS-7]", () => {
    const holding = (typeUrl: string, value: JsonObject): JsonObject => ({ typeUrl, value });
    const good = holding(url(`${tls}.UpstreamTlsContext`), { sni: "a" });
    expect(shown("xds.type.v3.TypedStruct", good)).toEqual(good);
    expect(
      shown(
        "xds.type.v3.TypedStruct",
        holding(url(`${tls}.TlsCertificate`), { private_key: { inline_string: "PRIVATE" } }),
      ),
    ).toEqual({ typeUrl: url(`${tls}.TlsCertificate`) });
    expect(shown("udpa.type.v1.TypedStruct", holding(url("a.Unknown"), { key: "x" }))).toEqual({
      typeUrl: url("a.Unknown"),
    });
  });

  it("looks up once whether a field is secret, however many messages have it, and does not look into Structs", () => {
    const cluster = "envoy.config.cluster.v3.Cluster";
    const lookUps = (json: JsonObject): number => {
      let count = 0;
      const counting = Object.assign(Object.create(registry) as typeof registry, {
        getExtension(name: string) {
          count++;
          return registry.getExtension(name);
        },
      });
      withoutSecrets(anyFromJson({ "@type": url(cluster), ...json }, registry), counting);
      return count;
    };
    const matches = Array.from({ length: 1_000 }, (_, at) => ({ name: `m${at}` }));
    expect(lookUps({ transportSocketMatches: matches })).toBe(2);
    const fields = Object.fromEntries(matches.map(({ name }) => [name, name]));
    expect(lookUps({ metadata: { filterMetadata: { a: fields } } })).toBe(2);
  });
});

function wrapped(any: Any): Uint8Array {
  return toBinary(AnySchema, any);
}
