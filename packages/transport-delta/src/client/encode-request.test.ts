import { fromBinary } from "@bufbuild/protobuf";
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
