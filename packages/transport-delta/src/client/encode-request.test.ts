import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { encodeRequest, type RequestParts } from "./encode-request.ts";

const nothing: RequestParts = {
  typeUrl: "t",
  subscribe: [],
  unsubscribe: [],
  versions: new Map(),
  answer: undefined,
};
const read = (
  parts: Partial<RequestParts>,
): ReturnType<typeof fromBinary<typeof DeltaDiscoveryRequestSchema>> =>
  fromBinary(DeltaDiscoveryRequestSchema, encodeRequest({ ...nothing, ...parts }));

describe("encodeRequest()", () => {
  it("writes the bytes of protobuf-es", () => {
    const parts: RequestParts = {
      typeUrl: "type.googleapis.com/acme.v1.Flag",
      subscribe: [
        { name: "a" },
        {
          name: "ü😀".repeat(50),
          parameters: new Map([
            ["k", "v"],
            ["l", ""],
          ]),
        },
      ],
      unsubscribe: [{ name: "*" }, { name: "b", parameters: new Map([["k", "v"]]) }],
      versions: new Map([
        ["c", "1"],
        ["d", ""],
      ]),
      answer: { nonce: "n", version: "", error: "x".repeat(200) },
    };
    const message = create(DeltaDiscoveryRequestSchema, {
      typeUrl: parts.typeUrl,
      resourceNamesSubscribe: ["a"],
      resourceNamesUnsubscribe: ["*"],
      resourceLocatorsSubscribe: [{ name: "ü😀".repeat(50), dynamicParameters: { k: "v", l: "" } }],
      resourceLocatorsUnsubscribe: [{ name: "b", dynamicParameters: { k: "v" } }],
      initialResourceVersions: { c: "1", d: "" },
      responseNonce: "n",
      errorDetail: { code: 3, message: "x".repeat(200) },
    });
    expect(Buffer.from(encodeRequest(parts)).toString("hex")).toBe(
      Buffer.from(toBinary(DeltaDiscoveryRequestSchema, message)).toString("hex"),
    );
  });

  it("has names, versions and no nonce where it answers nothing [C-NONCE-10]", () => {
    expect(
      read({
        subscribe: [{ name: "a" }],
        unsubscribe: [{ name: "b" }],
        versions: new Map([["c", "1"]]),
      }),
    ).toMatchObject({
      typeUrl: "t",
      resourceNamesSubscribe: ["a"],
      resourceNamesUnsubscribe: ["b"],
      initialResourceVersions: { c: "1" },
      responseNonce: "",
    });
  });

  it("answers with the nonce, and rejects with INVALID_ARGUMENT [C-ACK-4] [C-ACK-14]", () => {
    expect([
      read({ answer: { nonce: "n", version: "" } }).errorDetail,
      read({ answer: { nonce: "n", version: "" } }).responseNonce,
    ]).toEqual([undefined, "n"]);
    expect(read({ answer: { nonce: "n", version: "", error: "bad" } })).toMatchObject({
      responseNonce: "n",
      errorDetail: { code: 3, message: "bad" },
    });
  });

  it("what has parameters is a locator; empty ones are none [C-DYN-1]", () => {
    const some = { name: "a", parameters: new Map([["k", "v"]]) };
    const { resourceNamesSubscribe, resourceLocatorsSubscribe, resourceLocatorsUnsubscribe } = read(
      { subscribe: [some, { name: "b", parameters: new Map() }], unsubscribe: [some] },
    );
    expect([
      resourceNamesSubscribe,
      resourceLocatorsSubscribe.map(({ name, dynamicParameters }) => [name, dynamicParameters]),
      resourceLocatorsUnsubscribe.length,
    ]).toEqual([["b"], [["a", { k: "v" }]], 1]);
  });
});
