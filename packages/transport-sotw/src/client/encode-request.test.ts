import { fromBinary } from "@bufbuild/protobuf";
import { DiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { encodeRequest, type RequestParts } from "./encode-request.ts";

const nothing: RequestParts = { typeUrl: "t", version: "", nonce: "", names: [], error: undefined };
const read = (
  parts: Partial<RequestParts>,
): ReturnType<typeof fromBinary<typeof DiscoveryRequestSchema>> =>
  fromBinary(DiscoveryRequestSchema, encodeRequest({ ...nothing, ...parts }));

describe("encodeRequest()", () => {
  it("has version, nonce and all names [C-ACK-2]", () => {
    expect(read({ version: "1", nonce: "n", names: [{ name: "a" }, { name: "b" }] })).toMatchObject(
      { typeUrl: "t", versionInfo: "1", responseNonce: "n", resourceNames: ["a", "b"] },
    );
  });

  it("rejects with INVALID_ARGUMENT [C-ACK-3] [C-ACK-14]", () => {
    expect([read({}).errorDetail, read({ error: "bad" }).errorDetail]).toMatchObject([
      undefined,
      { code: 3, message: "bad" },
    ]);
  });

  it("what has parameters is a locator; empty ones are none [C-DYN-1]", () => {
    const { resourceNames, resourceLocators } = read({
      names: [
        { name: "a", parameters: new Map([["k", "v"]]) },
        { name: "b", parameters: new Map() },
      ],
    });
    expect([
      resourceNames,
      resourceLocators.map(({ name, dynamicParameters }) => [name, dynamicParameters]),
    ]).toEqual([["b"], [["a", { k: "v" }]]]);
  });
});
