import type {
  AnyDesc,
  DescEnum,
  DescField,
  DescFile,
  DescMessage,
  DescService,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { envoyRegistry } from "./envoy/index.ts";

const folder = join(import.meta.dirname, "gen");
const files = await Promise.all(generated().map(fileIn));
const types = files.flatMap((file) => [...nestedTypes(file)]);
const ours = types.filter(
  (type) => type.kind !== "extension" && !type.typeName.startsWith("xdstp."),
);

describe("the transport messages", () => {
  it.each([
    "xds.core.v3.CollectionEntry",
    "envoy.service.discovery.v3.DeltaDiscoveryResponse",
    "envoy.service.discovery.v3.AggregatedDiscoveryService",
    "envoy.service.endpoint.v3.LocalityEndpointDiscoveryService",
    "envoy.service.status.v3.ClientStatusDiscoveryService",
    "envoy.config.core.v3.Node",
    "google.rpc.Status",
  ])("have %s among them", (typeName) => {
    expect(ours.map((type) => type.typeName)).toContain(typeName);
  });

  it.each(ours.map((type) => [`${type.kind} ${type.typeName}`, type] as const))(
    "%s is as in Envoy's API",
    (_, type) => {
      expect(shapeOf(type)).toEqual(shapeOf(inEnvoy(type)));
    },
  );
});

function generated(): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith("_pb.ts"),
  );
}

async function fileIn(path: string): Promise<DescFile> {
  const module = (await import(join(folder, path))) as Record<string, AnyDesc | DescFile>;
  const file = Object.values(module).find((value) => value.kind === "file");
  if (file === undefined) throw new Error(`${path} exports no file descriptor`);
  return file;
}

function inEnvoy(type: AnyDesc): AnyDesc | undefined {
  return [...envoyRegistry()].find(
    (other) => other.kind === type.kind && other.typeName === (type as DescMessage).typeName,
  );
}

function shapeOf(type: AnyDesc | undefined): unknown {
  switch (type?.kind) {
    case "message":
      return { file: type.file.name, ...messageShape(type) };
    case "enum":
      return { file: type.file.name, ...enumShape(type) };
    case "service":
      return { file: type.file.name, ...serviceShape(type) };
    default:
      return undefined;
  }
}

function messageShape(message: DescMessage): object {
  return {
    fields: message.fields.map(fieldShape).toSorted((a, b) => a.number - b.number),
    oneofs: message.oneofs.map((oneof) => oneof.name).toSorted(),
    reservedNames: message.proto.reservedName,
    reservedNumbers: message.proto.reservedRange.map(({ start, end }) => [start, end]),
  };
}

function fieldShape(field: DescField): { readonly number: number } & Record<string, unknown> {
  const { number, name, jsonName, fieldKind, presence, oneof } = field;
  return {
    ...{ number, name, jsonName, fieldKind, presence, oneof: oneof?.name },
    scalar: field.scalar,
    message: field.message?.typeName,
    enum: field.enum?.typeName,
    ...(field.fieldKind === "list" && { listKind: field.listKind, packed: field.packed }),
    ...(field.fieldKind === "map" && { mapKey: field.mapKey, mapKind: field.mapKind }),
  };
}

function enumShape(type: DescEnum): object {
  return { open: type.open, values: type.values.map(({ number, name }) => [number, name]) };
}

function serviceShape(service: DescService): object {
  const methods = service.methods.map(({ name, methodKind, input, output }) => [
    name,
    methodKind,
    input.typeName,
    output.typeName,
  ]);
  return { methods: methods.toSorted() };
}
