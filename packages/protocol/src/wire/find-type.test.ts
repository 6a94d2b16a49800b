import { create, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { createRandom, scaled, seed } from "../../test/random.ts";
import { decodeDelta, randomMessage, randomRequest } from "../../test/random-requests.ts";
import { findType } from "./find-type.ts";
import { lengthDelimited } from "@xdstp/core/wire";

const TYPE = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const extensions = Array.from({ length: 800 }, (_, i) => ({
  name: `extension-${i}`,
  typeUrls: ["a.B", "c.D"],
}));
const names = Array.from({ length: 5000 }, (_, i) => `name-${i}`);
const delta = toBinary(
  DeltaDiscoveryRequestSchema,
  create(DeltaDiscoveryRequestSchema, {
    node: { id: "n", extensions },
    typeUrl: TYPE,
    resourceNamesSubscribe: names,
  }),
);
const sotw = toBinary(
  DiscoveryRequestSchema,
  create(DiscoveryRequestSchema, {
    versionInfo: "1",
    node: { id: "n", extensions },
    resourceNames: names,
    typeUrl: TYPE,
  }),
);

describe("findType()", () => {
  it("finds the type behind the node and its extensions (delta)", () => {
    const behind = Buffer.from(delta).indexOf(TYPE) + TYPE.length;
    expect(findType(delta.subarray(0, behind), "delta")).toEqual({ found: true, type: TYPE });
  });

  it("finds the type behind the node and the name list (sotw)", () => {
    expect(findType(sotw, "sotw")).toEqual({ found: true, type: TYPE });
  });

  it.each([0, 1, 2, 3, 10, 1000])("asks for more while only %d bytes have come", (length) => {
    expect(findType(delta.subarray(0, length), "delta")).toMatchObject({
      found: false,
      more: true,
    });
    expect(findType(sotw.subarray(0, length), "sotw")).toMatchObject({ found: false, more: true });
  });

  it("goes on where it stopped, and begins no field twice that was read", () => {
    let at = 0;
    for (let length = 0; length < sotw.length - 1; length += 500) {
      const found = findType(sotw.subarray(0, length), "sotw", at);
      if (found.found) throw new Error("found too early");
      expect(found.more).toBe(true);
      expect(found.at).toBeGreaterThanOrEqual(at);
      expect(found.at).toBeLessThanOrEqual(length);
      at = found.at;
    }
    expect(at).toBeGreaterThan(sotw.length / 2);
    expect(findType(sotw, "sotw", at)).toEqual({ found: true, type: TYPE });
  });

  it("finds an empty type", () => {
    expect(findType(lengthDelimited(4, ""), "sotw")).toEqual({ found: true, type: "" });
  });

  it("gives up on what is not a message", () => {
    expect(findType(Uint8Array.of(0x0b), "delta")).toMatchObject({ found: false, more: false });
    expect(findType(Uint8Array.of(0x00, 0x00), "sotw")).toMatchObject({
      found: false,
      more: false,
    });
    expect(findType(new Uint8Array(20).fill(0xff), "sotw")).toMatchObject({
      found: false,
      more: false,
    });
  });

  it("gives up on a type that is too long, and does not wait for its end", () => {
    const long = lengthDelimited(2, "x".repeat(5000));
    expect(findType(long, "delta")).toMatchObject({ found: false, more: false });
    expect(findType(long.subarray(0, 2000), "delta")).toMatchObject({ found: false, more: false });
    expect(findType(lengthDelimited(2, "x".repeat(1024)), "delta")).toMatchObject({ found: true });
    expect(findType(lengthDelimited(2, "x".repeat(1025)), "delta")).toMatchObject({
      found: false,
      more: false,
    });
  });

  it("waits for the end of a type that is not too long", () => {
    const long = lengthDelimited(2, "x".repeat(1024));
    for (const length of [1, 2, 3, 100, long.length - 1])
      expect(findType(long.subarray(0, length), "delta")).toEqual({
        found: false,
        more: true,
        at: 0,
      });
  });

  it("does not take a number in the place of the type", () => {
    expect(findType(Uint8Array.of(0x20, 1), "sotw")).toMatchObject({ found: false, more: true });
  });

  it("agrees with a full decode of messages with one type, and never throws", () => {
    const random = createRandom(seed);
    for (let i = 0; i < scaled(200_000); i++) {
      findType(randomMessage(random, "sotw"), "sotw");
      const message = randomRequest(random, "delta");
      const found = findType(message, "delta");
      const request = decodeDelta(message);
      if (
        request === undefined ||
        toBinary(DeltaDiscoveryRequestSchema, request).length !== message.length
      )
        continue;
      if (found.found || found.more)
        expect(found.found ? found.type : "", `seed ${seed}, case ${i}`).toBe(request.typeUrl);
    }
  });
});
