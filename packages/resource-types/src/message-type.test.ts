import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FieldDescriptorProtoSchema,
  ListValueSchema,
  StructSchema,
} from "@bufbuild/protobuf/wkt";
import {
  DeltaDiscoveryRequestSchema,
  MetadataSchema,
  NodeSchema,
  ResourceLocatorSchema,
  ResourceSchema,
} from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";

import { clusters, endpoints, listeners, routes, secrets } from "./envoy-messages.ts";
import * as types from "./index.ts";
import { messageType, sortMaps } from "./message-type.ts";

const locator = messageType(ResourceLocatorSchema);

describe("messageType()", () => {
  it("knows type URL, name and bytes of a message of protobuf-es", () => {
    const message = create(ResourceLocatorSchema, {
      name: "n",
      dynamicParameters: { b: "2", a: "1" },
    });
    expect([locator.typeUrl, locator.nameOf(message)]).toEqual([
      "type.googleapis.com/envoy.service.discovery.v3.ResourceLocator",
      "n",
    ]);
    expect(fromBinary(ResourceLocatorSchema, locator.encode(message))).toEqual(message);
  });

  it("accepts the fields of a message in place of a message", () => {
    const fields = { name: "n", dynamicParameters: { b: "2", a: "1" } };
    expect(locator.nameOf(fields)).toBe("n");
    expect(locator.encode(fields)).toEqual(locator.encode(create(ResourceLocatorSchema, fields)));
  });

  it("reads the name from the field that is stated; without a text there, the name is empty", () => {
    const message = create(ResourceSchema, { name: "n", version: "v" });
    expect(messageType(ResourceSchema, { nameField: 3 }).nameOf(message)).toBe("n");
    expect(messageType(ResourceSchema, { nameField: 99 }).nameOf(message)).toBe("");
    expect(messageType(MetadataSchema).nameOf(create(MetadataSchema))).toBe("");
  });

  it("gives equal messages equal bytes, whatever the order of their map keys [S-VER-4]", () => {
    const [first, second] = [
      ["b", "a"],
      ["a", "b"],
    ].map((keys) =>
      locator.encode({
        name: "n",
        dynamicParameters: Object.fromEntries(keys.map((key) => [key, key])),
      }),
    );
    expect(first).toEqual(second);
  });
});

describe("the messages of Envoy", () => {
  it("are ready-made, each with the name that Envoy uses", () => {
    const secret = { name: "s", type: { case: "genericSecret", value: {} } } as const;
    expect([
      [clusters.typeUrl, clusters.nameOf({ name: "c" })],
      [endpoints.typeUrl, endpoints.nameOf({ clusterName: "c" })],
      [listeners.typeUrl, listeners.nameOf({ name: "l" })],
      [routes.typeUrl, routes.nameOf({ name: "r" })],
      [secrets.typeUrl, secrets.nameOf(secret)],
    ]).toEqual([
      [types.cluster.typeUrl, "c"],
      [types.clusterLoadAssignment.typeUrl, "c"],
      [types.listener.typeUrl, "l"],
      [types.routeConfiguration.typeUrl, "r"],
      [types.secret.typeUrl, "s"],
    ]);
  });
});

describe("sortMaps()", () => {
  const shuffled = { z: "1", a: { y: [{ d: 1, c: 2 }, null], x: true } };
  const sorted = { a: { x: true, y: [{ c: 2, d: 1 }, null] }, z: "1" };

  it("sorts maps at any depth: in messages, lists, maps, oneofs and Structs [S-VER-4]", () => {
    const node = create(NodeSchema, {
      metadata: shuffled,
      extensions: [{ version: { metadata: shuffled } }],
      userAgentVersionType: { case: "userAgentBuildVersion", value: { metadata: shuffled } },
      dynamicParameters: { b: { params: { d: "1", c: "2" } }, a: {} },
    });
    const result = sortMaps(NodeSchema, node);
    const texts = [
      result.metadata,
      result.extensions[0]?.version?.metadata,
      result.userAgentVersionType.case === "userAgentBuildVersion" &&
        result.userAgentVersionType.value.metadata,
    ];
    expect(texts.map((text) => JSON.stringify(text))).toEqual(
      Array.from({ length: 3 }, () => JSON.stringify(sorted)),
    );
    expect(Object.keys(result.dynamicParameters)).toEqual(["a", "b"]);
    expect(Object.keys(result.dynamicParameters.b?.params ?? {})).toEqual(["c", "d"]);
    expect(fromBinary(NodeSchema, toBinary(NodeSchema, result))).toEqual(
      fromBinary(NodeSchema, toBinary(NodeSchema, node)),
    );
  });

  it("sorts the maps of a map of Structs, and a Struct that is a message itself [S-VER-4]", () => {
    const metadata = sortMaps(
      MetadataSchema,
      create(MetadataSchema, { filterMetadata: { b: shuffled, a: {} } }),
    );
    expect(JSON.stringify(metadata.filterMetadata)).toBe(JSON.stringify({ a: {}, b: sorted }));
    const value = (text: string) => ({ kind: { case: "stringValue" as const, value: text } });
    const struct = sortMaps(
      StructSchema,
      create(StructSchema, {
        fields: {
          b: value("1"),
          a: { kind: { case: "structValue", value: { fields: { d: value("2"), c: value("3") } } } },
        },
      }),
    );
    expect(Object.keys(struct.fields)).toEqual(["a", "b"]);
    expect(
      struct.fields.a?.kind.case === "structValue" &&
        Object.keys(struct.fields.a.kind.value.fields),
    ).toEqual(["c", "d"]);
    const list = create(ListValueSchema, { values: [value("1")] });
    expect(sortMaps(ListValueSchema, list)).toBe(list);
  });

  it("leaves the message alone, and shares what holds no map", () => {
    const request = create(DeltaDiscoveryRequestSchema, {
      node: { id: "n", metadata: { b: 1, a: 2 } },
      errorDetail: { code: 3 },
      initialResourceVersions: { b: "1", a: "2" },
    });
    const copy = sortMaps(DeltaDiscoveryRequestSchema, request);
    expect([
      Object.keys(request.initialResourceVersions),
      Object.keys(request.node?.metadata ?? {}),
    ]).toEqual([
      ["b", "a"],
      ["b", "a"],
    ]);
    expect(Object.keys(copy.initialResourceVersions)).toEqual(["a", "b"]);
    expect(copy.errorDetail).toBe(request.errorDetail);
    const plain = create(ResourceSchema, {
      name: "n",
      resource: { typeUrl: "t", value: Uint8Array.of(1) },
    });
    expect(sortMaps(ResourceSchema, plain)).toBe(plain);
  });

  it("keeps what a prototype says (proto2) and unknown fields", () => {
    const unknown = Uint8Array.of(0xfa, 0x3f, 0x01, 0x07);
    const bytes = Uint8Array.from([
      ...toBinary(
        ResourceLocatorSchema,
        create(ResourceLocatorSchema, { name: "n", dynamicParameters: { b: "", a: "" } }),
      ),
      ...unknown,
    ]);
    const encoded = locator.encode(fromBinary(ResourceLocatorSchema, bytes));
    expect([...encoded.subarray(-4)]).toEqual([...unknown]);
    const file = create(FileDescriptorProtoSchema, {
      messageType: [{ field: [create(FieldDescriptorProtoSchema, { name: "f" })] }],
    });
    expect(toBinary(FileDescriptorProtoSchema, sortMaps(FileDescriptorProtoSchema, file))).toEqual(
      toBinary(FileDescriptorProtoSchema, file),
    );
  });

  it("takes no harm from a key that names the prototype", () => {
    const message = create(ResourceLocatorSchema);
    Object.defineProperty(message.dynamicParameters, "__proto__", {
      value: "x",
      enumerable: true,
      configurable: true,
      writable: true,
    });
    const copy = sortMaps(ResourceLocatorSchema, message);
    expect(Object.keys(copy.dynamicParameters)).toEqual(["__proto__"]);
  });
});
