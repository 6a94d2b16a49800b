import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import type { ReceivedResponse } from "@xdstp/protocol/client";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { readResponse } from "./read-response.ts";

const T = "type.googleapis.com/t.T";
const WRAPPER = "type.googleapis.com/envoy.service.discovery.v3.Resource";

function read(bytes: Uint8Array, nameField?: number): ReceivedResponse {
  const type = nameField === undefined ? undefined : { typeUrl: T, nameField };
  return readResponse(Buffer.from(bytes), T, type, (text) => text);
}

function encoded(
  init: Omit<MessageInitShape<typeof DiscoveryResponseSchema>, "$typeName">,
): Uint8Array {
  return toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, init));
}

describe("readResponse()", () => {
  it("reads bare and wrapped resources [C-WRAP-1]", () => {
    const wrapped = toBinary(
      ResourceSchema,
      create(ResourceSchema, { name: "b", version: "7", resource: { typeUrl: T } }),
    );
    const response = read(
      encoded({
        typeUrl: T,
        nonce: "n",
        versionInfo: "1",
        canary: true,
        controlPlane: { identifier: "me" },
        resources: [
          { typeUrl: T, value: Buffer.from("\n\x01a") },
          { typeUrl: WRAPPER, value: wrapped },
        ],
        resourceErrors: [{ resourceName: { name: "d" } }],
      }),
    );
    expect(response).toMatchObject({
      nonce: "n",
      version: "1",
      canary: true,
      controlPlane: "me",
      removed: [],
      resources: [
        { name: "a", version: "" },
        { name: "b", version: "7" },
      ],
      errors: [{ name: "d", error: { code: "UNKNOWN" } }],
    });
  });

  it("takes the name from the field that the type says [B-WRAP-4]", () => {
    const bytes = encoded({
      resources: [
        { typeUrl: T, value: Buffer.from("\n\x01a\x12\x01b") },
        { typeUrl: T, value: Buffer.of(0x10, 5) },
      ],
    });
    expect(
      [undefined, 2, 0].map((nameField) =>
        read(bytes, nameField).resources.map(({ name }) => name),
      ),
    ).toEqual([
      ["a", ""],
      ["b", ""],
      ["", ""],
    ]);
  });

  it("what cannot be read of one resource is its own fault, of the message that of all", () => {
    const { resources, fault } = read(
      encoded({
        resources: [
          { typeUrl: T, value: Buffer.of(0x0a, 1, 0xff) },
          { typeUrl: T, value: Buffer.of(0x0a, 9) },
          { typeUrl: T, value: Buffer.from("\n\x01a") },
        ],
      }),
    );
    expect([resources.map((one) => one.fault), fault]).toEqual([
      ["its name is not UTF-8", "its payload cannot be read", undefined],
      undefined,
    ]);
    expect(read(Buffer.of(0x12, 2, 0x0a, 9)).resources[0]?.fault).toBe(
      "one of its resources is not an Any message",
    );
    expect(read(Buffer.of(0x12, 9)).fault).toBe("it is not a DiscoveryResponse");
    expect(read(encoded({ resourceErrors: [{}] })).fault).toBe(
      "one of its resource_errors cannot be read",
    );
  });
});
