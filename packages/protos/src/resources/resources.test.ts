import { create, fromBinary, toBinary, type AnyDesc, type DescFile } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { anyFromJson, envoyRegistry } from "../envoy/index.ts";
import { FileAccessLogSchema, StderrAccessLogSchema, StdoutAccessLogSchema } from "./access-log.ts";
import { ClusterSchema, Cluster_DiscoveryType } from "./cluster.ts";
import { ClusterLoadAssignmentSchema } from "./endpoint.ts";
import { HttpConnectionManagerSchema } from "./http-connection-manager.ts";
import { HttpProtocolOptionsSchema } from "./http-protocol-options.ts";
import { ListenerSchema } from "./listener.ts";
import { RouteConfigurationSchema, ScopedRouteConfigurationSchema } from "./route.ts";
import { RouterSchema } from "./router.ts";
import { SecretSchema } from "./secret.ts";
import { TcpProxySchema } from "./tcp-proxy.ts";
import { DownstreamTlsContextSchema, UpstreamTlsContextSchema } from "./tls.ts";

const folder = join(import.meta.dirname, "gen");
const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
  path.endsWith("_pb.ts"),
);
const modules = await Promise.all(
  paths.map(async (path) =>
    Object.values((await import(join(folder, path))) as Record<string, AnyDesc | DescFile>),
  ),
);
const messages = modules
  .flat()
  .flatMap((value) => (value.kind === "file" ? [...nestedTypes(value)] : []))
  .filter((type) => type.kind === "message");

describe("the resource types as TypeScript", () => {
  it.each([
    ClusterSchema,
    ClusterLoadAssignmentSchema,
    ListenerSchema,
    RouteConfigurationSchema,
    ScopedRouteConfigurationSchema,
    SecretSchema,
    HttpConnectionManagerSchema,
    DownstreamTlsContextSchema,
    UpstreamTlsContextSchema,
    RouterSchema,
    TcpProxySchema,
    HttpProtocolOptionsSchema,
    FileAccessLogSchema,
    StdoutAccessLogSchema,
    StderrAccessLogSchema,
  ])("have $typeName", (schema) => {
    expect(fromBinary(schema, toBinary(schema, create(schema))).$typeName).toBe(schema.typeName);
  });

  it("are those of the registry, field by field", () => {
    const fields = messages.map(
      ({ typeName, fields: own }) =>
        [typeName, own.map(({ number, name, fieldKind }) => [number, name, fieldKind])] as const,
    );
    const known = messages.map(
      ({ typeName }) =>
        [
          typeName,
          envoyRegistry()
            .getMessage(typeName)
            ?.fields.map(({ number, name, fieldKind }) => [number, name, fieldKind]),
        ] as const,
    );
    expect(fields).toEqual(known);
    expect(fields.length).toBeGreaterThan(300);
  });

  it("read what the registry has written", () => {
    const { value } = anyFromJson(
      {
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        name: "a",
        type: "EDS",
        connect_timeout: "2s",
      },
      envoyRegistry(),
    );
    const { name, connectTimeout, clusterDiscoveryType } = fromBinary(ClusterSchema, value);
    expect([name, connectTimeout?.seconds, clusterDiscoveryType]).toEqual([
      "a",
      2n,
      { case: "type", value: Cluster_DiscoveryType.EDS },
    ]);
  });
});
