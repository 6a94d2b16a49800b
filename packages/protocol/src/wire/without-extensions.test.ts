import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { createRandom, scaled, seed } from "../../test/random.ts";
import { decodeDelta, randomMessage, randomRequest } from "../../test/random-requests.ts";
import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import { withoutExtensions, withoutUnread } from "./without-extensions.ts";

const extensions = Array.from({ length: 800 }, (_, i) => ({
  name: `extension-${i}`,
  category: "c",
  typeUrls: ["a.B"],
}));
const node = {
  id: "n",
  cluster: "c",
  locality: { zone: "z" },
  userAgentName: "envoy",
  clientFeatures: ["f"],
};

describe("withoutExtensions()", () => {
  it("cuts the extensions out of the node and leaves the rest (delta) [S-NODE-6]", () => {
    const init = {
      typeUrl: "t",
      resourceNamesSubscribe: ["a"],
      initialResourceVersions: { a: "1" },
    };
    const message = toBinary(
      DeltaDiscoveryRequestSchema,
      create(DeltaDiscoveryRequestSchema, { ...init, node: { ...node, extensions } }),
    );
    expect(withoutExtensions(message, "delta")).toEqual(
      toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, { ...init, node })),
    );
  });

  it("cuts the extensions out of the node and leaves the rest (sotw) [S-NODE-6]", () => {
    const init = { versionInfo: "1", typeUrl: "t", resourceNames: ["a"], responseNonce: "1" };
    const message = toBinary(
      DiscoveryRequestSchema,
      create(DiscoveryRequestSchema, { ...init, node: { ...node, extensions } }),
    );
    expect(withoutExtensions(message, "sotw")).toEqual(
      toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { ...init, node })),
    );
  });

  it("does not read what it cuts out [S-NODE-6]", () => {
    const message = lengthDelimited(
      1,
      concatBytes([lengthDelimited(1, "n"), lengthDelimited(9, Uint8Array.of(0xff, 0xff))]),
    );
    expect(withoutExtensions(message, "delta")).toEqual(
      lengthDelimited(1, lengthDelimited(1, "n")),
    );
  });

  it.each(["delta", "sotw"] as const)(
    "cuts the metadata out as well for those who do not read it (%s) [S-NODE-6]",
    (variant) => {
      const metadata = { ISTIO_VERSION: "1", LABELS: { app: "a" } };
      const schema = variant === "delta" ? DeltaDiscoveryRequestSchema : DiscoveryRequestSchema;
      const encode = (of: object): Uint8Array =>
        toBinary(schema, create(schema, { typeUrl: "t", node: { ...node, ...of } }));
      const message = encode({ metadata, extensions });
      expect(withoutUnread(message, variant)).toEqual(encode({}));
      expect(withoutExtensions(message, variant)).toEqual(encode({ metadata }));
    },
  );

  it("keeps a node of extensions only as an empty node", () => {
    expect(withoutExtensions(lengthDelimited(1, lengthDelimited(9, "x")), "delta")).toEqual(
      lengthDelimited(1, ""),
    );
  });

  it("gives the same array where there is nothing to cut", () => {
    const message = toBinary(
      DiscoveryRequestSchema,
      create(DiscoveryRequestSchema, { typeUrl: "t", node }),
    );
    expect(withoutExtensions(message, "sotw")).toBe(message);
    expect(withoutExtensions(lengthDelimited(3, lengthDelimited(9, "x")), "sotw")).toEqual(
      lengthDelimited(3, lengthDelimited(9, "x")),
    );
  });

  it.each([
    [
      "the message",
      concatBytes([lengthDelimited(1, lengthDelimited(9, "x")), Uint8Array.of(0x12)]),
    ],
    ["the node", lengthDelimited(1, concatBytes([lengthDelimited(9, "x"), Uint8Array.of(0x0b)]))],
  ])("gives the same array where %s is malformed", (_what, message) => {
    expect(withoutExtensions(message, "delta")).toBe(message);
  });

  it("changes nothing else of any request without groups, and never throws", () => {
    const random = createRandom(seed);
    let cut = 0;
    for (let i = 0; i < scaled(200_000); i++) {
      withoutExtensions(randomMessage(random, "sotw"), "sotw");
      const message = randomRequest(random, "delta");
      const less = withoutExtensions(message, "delta");
      const request = decodeDelta(message);
      if (
        request?.$unknown?.some(({ wireType }) => wireType === WireType.StartGroup) ??
        request === undefined
      )
        continue;
      cut += Number(less !== message);
      if (request.node !== undefined) request.node.extensions = [];
      expect(fromBinary(DeltaDiscoveryRequestSchema, less), `seed ${seed}, case ${i}`).toEqual(
        request,
      );
    }
    expect(cut).toBeGreaterThan(0);
  });
});
