import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import { DeltaDiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { decodeRequest } from "./decode-request.ts";

function encode(request: MessageInitShape<typeof DeltaDiscoveryRequestSchema>): Uint8Array {
  return toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, request));
}

describe("decodeRequest()", () => {
  it("reads what a server needs of a request [S-DSUB-1] [S-RECON-4]", () => {
    const request = decodeRequest(
      encode({
        node: { id: "n", cluster: "c", userAgentName: "envoy", clientFeatures: ["f"] },
        typeUrl: "t",
        resourceNamesSubscribe: ["a"],
        resourceNamesUnsubscribe: ["b"],
        initialResourceVersions: { c: "1", d: "2" },
        responseNonce: "7",
        errorDetail: { code: 3, message: "no" },
      }),
    );
    expect(request).toMatchObject({
      typeUrl: "t",
      nonce: "7",
      subscribe: ["a"],
      unsubscribe: ["b"],
      error: { code: 3, message: "no" },
    });
    expect(request.node).toMatchObject({
      id: "n",
      cluster: "c",
      userAgentName: "envoy",
      clientFeatures: ["f"],
    });
    expect([...request.initialVersions]).toEqual([
      ["c", "1"],
      ["d", "2"],
    ]);
  });

  it("takes locators for the names that they hold, behind the other names [S-WILD-3]", () => {
    const request = decodeRequest(
      encode({
        resourceNamesSubscribe: ["a"],
        resourceLocatorsSubscribe: [{ name: "b" }],
        resourceNamesUnsubscribe: ["c"],
        resourceLocatorsUnsubscribe: [{ name: "d" }],
      }),
    );
    expect(request.subscribe).toEqual(["a", "b"]);
    expect(request.unsubscribe).toEqual(["c", "d"]);
  });

  it.each([
    ["metadata", 3],
    ["extensions", 9],
  ])("does not decode the %s of a node [S-NODE-6]", (_, field) => {
    const malformed = lengthDelimited(field, Uint8Array.of(0xff));
    const node = concatBytes([lengthDelimited(1, "n"), malformed]);
    expect(decodeRequest(lengthDelimited(1, node)).node).toMatchObject({ id: "n" });
  });

  it("says what is not there [S-NODE-2] [S-ACK-7]", () => {
    expect(decodeRequest(new Uint8Array())).toEqual({
      node: undefined,
      typeUrl: "",
      nonce: "",
      error: undefined,
      subscribe: [],
      unsubscribe: [],
      locate: [],
      unlocate: [],
      initialVersions: new Map(),
    });
  });

  it("tells locators with dynamic parameters from plain names [B-DYN-3]", () => {
    const asked = encode({
      resourceLocatorsSubscribe: [{ name: "a", dynamicParameters: { k: "v" } }, { name: "b" }],
      resourceLocatorsUnsubscribe: [{ name: "c", dynamicParameters: { k: "" } }],
    });
    expect(decodeRequest(asked)).toMatchObject({
      subscribe: ["b"],
      unsubscribe: [],
      locate: [{ name: "a", parameters: new Map([["k", "v"]]) }],
      unlocate: [{ name: "c", parameters: new Map([["k", ""]]) }],
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
