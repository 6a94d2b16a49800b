import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import { DiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { decodeRequest } from "./decode-request.ts";

function encode(request: MessageInitShape<typeof DiscoveryRequestSchema>): Uint8Array {
  return toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, request));
}

describe("decodeRequest()", () => {
  it("reads what a server needs of a request [S-SUB-1] [S-RECON-7]", () => {
    const request = decodeRequest(
      encode({
        node: { id: "n", cluster: "c", userAgentName: "envoy", clientFeatures: ["f"] },
        typeUrl: "t",
        resourceNames: ["a", "b"],
        versionInfo: "v",
        responseNonce: "7",
        errorDetail: { code: 3, message: "no" },
      }),
    );
    expect(request).toMatchObject({
      typeUrl: "t",
      nonce: "7",
      names: ["a", "b"],
      version: "v",
      usesLocators: false,
      error: { code: 3, message: "no" },
    });
    expect(request.node).toMatchObject({
      id: "n",
      cluster: "c",
      userAgentName: "envoy",
      clientFeatures: ["f"],
    });
  });

  it("takes locators for the names that they hold, and as a sign that wrapped resources are read [S-WRAP-2]", () => {
    expect(
      decodeRequest(encode({ resourceNames: ["a"], resourceLocators: [{ name: "b" }] })),
    ).toMatchObject({ names: ["a", "b"], usesLocators: true });
  });

  it.each([
    ["metadata", 3],
    ["extensions", 9],
  ])("does not decode the %s of a node [S-NODE-6]", (_, field) => {
    const malformed = lengthDelimited(field, Uint8Array.of(0xff));
    const node = concatBytes([lengthDelimited(1, "n"), malformed]);
    expect(decodeRequest(lengthDelimited(2, node)).node).toMatchObject({ id: "n" });
  });

  it("says what is not there [S-NODE-2] [S-ACK-7]", () => {
    expect(decodeRequest(new Uint8Array())).toEqual({
      node: undefined,
      typeUrl: "",
      nonce: "",
      error: undefined,
      names: [],
      located: [],
      version: "",
      usesLocators: false,
    });
  });

  it("tells locators with dynamic parameters from plain names [B-DYN-3]", () => {
    expect(
      decodeRequest(
        encode({ resourceLocators: [{ name: "a", dynamicParameters: { k: "v" } }, { name: "b" }] }),
      ),
    ).toMatchObject({
      names: ["b"],
      located: [{ name: "a", parameters: new Map([["k", "v"]]) }],
      usesLocators: true,
    });
  });

  it("skips the extensions of a node [S-NODE-6]", () => {
    expect(
      decodeRequest(encode({ node: { id: "n", extensions: [{ name: "x" }] }, typeUrl: "t" })),
    ).toMatchObject({ typeUrl: "t", node: { id: "n" } });
  });

  it("throws on bytes that are not such a message [S-STREAM-7]", () => {
    expect(() => decodeRequest(new Uint8Array([0xff, 0xff]))).toThrow();
  });
});
