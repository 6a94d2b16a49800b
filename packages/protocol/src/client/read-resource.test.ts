import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { ResourceSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { readResource } from "./read-resource.ts";

const T = "type.googleapis.com/t.T";

function encoded(init: Omit<MessageInitShape<typeof ResourceSchema>, "$typeName">): Buffer {
  return Buffer.from(toBinary(ResourceSchema, create(ResourceSchema, init)));
}

function read(bytes: Uint8Array): ReturnType<typeof readResource> {
  return readResource(Buffer.from(bytes), 0, bytes.length, T);
}

describe("readResource()", () => {
  it("reads all fields that a client needs; the payload is a view", () => {
    const bytes = encoded({
      name: "old",
      version: "1",
      aliases: ["x", "y"],
      resource: { typeUrl: T, value: Buffer.from("payload") },
      ttl: { seconds: 2n, nanos: 500_000_000 },
      cacheControl: { doNotCache: true },
      resourceName: {
        name: "a",
        dynamicParameterConstraints: {
          type: {
            case: "constraint",
            value: { key: "k", constraintType: { case: "exists", value: {} } },
          },
        },
      },
      metadata: { filterMetadata: { k: {} } },
    });
    const { payload, constraints, metadata, ...rest } = readResource(bytes, 0, bytes.length, T);
    expect(rest).toEqual({
      name: "a",
      key: "a",
      version: "1",
      aliases: ["x", "y"],
      ttlMs: 2_500,
      noStore: true,
    });
    expect([
      payload?.typeUrl,
      String(payload?.value),
      payload?.value.buffer === bytes.buffer,
    ]).toEqual([T, "payload", true]);
    expect(
      [constraints?.length, metadata?.length].every((length) => length !== undefined && length > 0),
    ).toBe(true);
  });

  it("a resource without body has no payload, one with an empty body has", () => {
    expect(read(encoded({ name: "a", version: "1" }))).toEqual({
      name: "a",
      key: "a",
      version: "1",
    });
    expect(read(encoded({ name: "a", resource: { typeUrl: T } })).payload).toMatchObject({
      typeUrl: T,
    });
  });

  it.each<readonly [string, Uint8Array]>([
    ["it is not a Resource message", Buffer.of(0x1a, 9, 0x61)],
    ["its resource is not an Any message", Buffer.of(0x12, 2, 0x0a, 9)],
    ["a name in it is not UTF-8", Buffer.of(0x1a, 1, 0xff)],
    ["a name in it is not UTF-8", Buffer.of(0x22, 1, 0xff)],
    ["a resource_name in it cannot be read", Buffer.of(0x42, 3, 0x0a, 1, 0xff)],
    ["its ttl is not a positive duration", encoded({ ttl: { seconds: -1n } })],
    ["its ttl is not a positive duration", encoded({ ttl: {} })],
  ])("%s", (fault, bytes) => {
    expect(read(bytes).fault).toBe(fault);
  });

  it("a name may hold U+FFFD itself", () => {
    expect(read(encoded({ name: "\uFFFD" }))).toEqual({
      name: "\uFFFD",
      key: "\uFFFD",
      version: "",
    });
  });

  it("never throws, whatever the bytes", () => {
    const good = encoded({
      name: "a",
      version: "1",
      resource: { typeUrl: T },
      ttl: { seconds: 1n },
    });
    for (let at = 0; at < good.length; at++)
      for (let value = 0; value < 256; value += 7) {
        const bytes = Buffer.from(good);
        bytes[at] = value;
        expect(() => read(bytes)).not.toThrow();
      }
  });
});
