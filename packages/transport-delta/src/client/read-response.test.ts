import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import type { ReceivedResponse } from "@xdstp/protocol/client";
import { DeltaDiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { readResponse } from "./read-response.ts";

const T = "type.googleapis.com/t.T";

function read(bytes: Uint8Array): ReceivedResponse {
  return readResponse(Buffer.from(bytes), T, undefined, (text) => text);
}

function encoded(
  init: Omit<MessageInitShape<typeof DeltaDiscoveryResponseSchema>, "$typeName">,
): Uint8Array {
  return toBinary(DeltaDiscoveryResponseSchema, create(DeltaDiscoveryResponseSchema, init));
}

describe("readResponse()", () => {
  it("reads what came, what went and what is wrong", () => {
    const response = read(
      encoded({
        typeUrl: T,
        nonce: "n",
        systemVersionInfo: "7",
        controlPlane: { identifier: "me" },
        resources: [{ name: "a", version: "1", resource: { typeUrl: T } }],
        removedResources: ["b"],
        removedResourceNames: [
          {
            name: "c",
            dynamicParameterConstraints: {
              type: {
                case: "constraint",
                value: { key: "k", constraintType: { case: "value", value: "v" } },
              },
            },
          },
        ],
        resourceErrors: [
          { resourceName: { name: "d" }, errorDetail: { code: 14, message: "away" } },
        ],
      }),
    );
    expect(response).toMatchObject({
      typeUrl: T,
      nonce: "n",
      version: "7",
      controlPlane: "me",
      canary: false,
      resources: [{ name: "a", version: "1" }],
      removed: [{ name: "b" }, { name: "c" }],
      errors: [{ name: "d", error: { code: "UNAVAILABLE" } }],
    });
    expect([response.fault, response.removed[1]?.constraints?.length]).toEqual([
      undefined,
      expect.any(Number),
    ]);
  });

  it.each<readonly [string, Uint8Array]>([
    ["it is not a DeltaDiscoveryResponse", Buffer.of(0x12, 9)],
    ["a name in removed_resources is not UTF-8", Buffer.of(0x32, 1, 0xff)],
    ["a name in removed_resource_names cannot be read", Buffer.of(0x42, 3, 0x0a, 1, 0xff)],
    ["one of its resource_errors cannot be read", encoded({ resourceErrors: [{}] })],
  ])("%s", (fault, bytes) => {
    expect(read(bytes).fault).toBe(fault);
  });
});
