import type { DescMessage, JsonValue } from "@bufbuild/protobuf";
import { fromBinary, fromJson } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { AnySchema, StructSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import {
  DiscoveryRequestSchema,
  DynamicParameterConstraintsSchema,
  NodeSchema,
} from "./discovery/index.ts";
import { anyFromJson, anyToJson, envoyRegistry } from "./envoy/index.ts";
import { readRedirect } from "./xds/index.ts";

const tooDeep = /maximum recursion depth of 100 reached/;

describe("deep nesting", () => {
  it.each([
    ["constraints inside each other", DynamicParameterConstraintsSchema, nested(4, 1, 99)],
    ["metadata of a node", NodeSchema, nodeWithLists(30)],
  ])("of %s is read up to 100 levels [B-LIM-5]", (_, schema, bytes) => {
    expect(() => fromBinary<DescMessage>(schema, bytes)).not.toThrow();
  });

  it.each([
    ["constraints inside each other", DynamicParameterConstraintsSchema, nested(4, 1, 101)],
    ["metadata of a node", NodeSchema, nodeWithLists(5_000)],
    ["metadata of a node in a request", DiscoveryRequestSchema, inField(2, nodeWithLists(5_000))],
    [
      "groups in a field that is not known",
      DiscoveryRequestSchema,
      new Uint8Array(1_000_000).fill((15 << 3) | WireType.StartGroup),
    ],
  ])("of %s is rejected beyond them [B-LIM-5]", (_, schema, bytes) => {
    expect(() => fromBinary<DescMessage>(schema, bytes)).toThrow(
      /recursion depth|recursion limit/i,
    );
  });

  it("of JSON is rejected, a million levels deep too [B-LIM-5]", () => {
    expect(() => fromJson(StructSchema, { a: lists(1_000_000) })).toThrow(tooDeep);
    const metadata = {
      "@type": "type.googleapis.com/envoy.config.core.v3.Node",
      metadata: { a: lists(1_000_000) },
    };
    expect(() => anyFromJson(metadata, envoyRegistry())).toThrow(tooDeep);
    expect(() => anyFromJson(anys(1_000_000), envoyRegistry())).toThrow(tooDeep);
  });

  it("of locators in a redirect is a reason, not an exception [B-LIM-5]", () => {
    expect(readRedirect(alternatives(5_000))).toEqual({
      ok: false,
      reason: expect.stringMatching(tooDeep) as string,
    });
  });

  it("of Anys costs nothing until they are opened, and is then rejected by name [B-LIM-5]", () => {
    const any = fromBinary(AnySchema, nestedAnys(20_000));
    expect(any).toMatchObject({ typeUrl: "type.googleapis.com/google.protobuf.Any" });
    expect(() => anyToJson(any, envoyRegistry())).toThrow(
      "type.googleapis.com/google.protobuf.Any as JSON: it is nested too deep",
    );
  });
});

function inField(number: number, bytes: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish();
}

/** `outer` in itself, and `inner` in the innermost. */
function nested(outer: number, inner: number, levels: number): Uint8Array {
  let bytes = inField(inner, new Uint8Array());
  for (let level = 2; level < levels; level++) bytes = inField(outer, bytes);
  return bytes;
}

/** A node whose metadata is a list in a list and so on. */
function nodeWithLists(levels: number): Uint8Array {
  let value: Uint8Array = new Uint8Array();
  for (let level = 0; level < levels; level++) value = inField(6, inField(1, value));
  return inField(3, inField(1, Buffer.concat([inField(1, Buffer.from("a")), inField(2, value)])));
}

/** The outermost first; each is a type URL and the length of what follows. */
function nestedAnys(levels: number): Uint8Array {
  const typeUrl = inField(1, Buffer.from("type.googleapis.com/google.protobuf.Any"));
  const parts: Uint8Array[] = [];
  for (let level = 0, length = 0; level < levels; level++) {
    parts.push(
      new BinaryWriter().tag(2, WireType.LengthDelimited).uint32(length).finish(),
      typeUrl,
    );
    length += (parts.at(-1)?.length ?? 0) + (parts.at(-2)?.length ?? 0);
  }
  return Buffer.concat(parts.reverse());
}

function alternatives(levels: number): Uint8Array {
  let bytes: Uint8Array = new Uint8Array();
  for (let level = 0; level < levels; level++) bytes = inField(6, inField(1, bytes));
  return bytes;
}

function lists(levels: number): JsonValue {
  let json: JsonValue = [];
  for (let level = 0; level < levels; level++) json = [json];
  return json;
}

function anys(levels: number): JsonValue {
  let json: JsonValue = { "@type": "type.googleapis.com/google.protobuf.Empty" };
  for (let level = 0; level < levels; level++)
    json = { "@type": "type.googleapis.com/google.protobuf.Any", value: json };
  return json;
}
