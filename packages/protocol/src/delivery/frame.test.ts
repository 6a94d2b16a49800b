import { fromBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryResponseSchema, DiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { lengthDelimited } from "@xdstp/core/wire";
import { createFrame, restampFrame } from "./frame.ts";
import { nextNonce } from "./frame.ts";

describe("createFrame()", () => {
  it("is a response of both variants, with a nonce of its own as the last field", () => {
    const frame = createFrame([lengthDelimited(1, "v1"), lengthDelimited(4, "type")]);
    expect(fromBinary(DiscoveryResponseSchema, frame.bytes)).toMatchObject({
      versionInfo: "v1",
      typeUrl: "type",
      nonce: String(frame.nonce),
    });
    expect(fromBinary(DeltaDiscoveryResponseSchema, frame.bytes)).toMatchObject({
      systemVersionInfo: "v1",
      typeUrl: "type",
      nonce: String(frame.nonce),
    });
    expect(Buffer.from(frame.bytes.subarray(frame.bodyLength))).toEqual(
      Buffer.from(lengthDelimited(5, String(frame.nonce))),
    );
  });

  it("lies behind its envelope in one buffer that no other shares", () => {
    const { bytes, enveloped } = createFrame([lengthDelimited(1, "x".repeat(300))]);
    expect([...enveloped.subarray(0, 5)]).toEqual([
      0,
      0,
      0,
      ...[bytes.length >> 8, bytes.length & 0xff],
    ]);
    expect(bytes.buffer).toBe(enveloped.buffer);
    expect(bytes.byteOffset).toBe(enveloped.byteOffset + 5);
    expect(bytes.buffer.byteLength).toBe(enveloped.length);
  });

  it("takes a nonce above every one before", () => {
    const before = nextNonce();
    const frames = [createFrame([]), createFrame([])];
    expect(frames[0]?.nonce).toBeGreaterThan(before);
    expect(frames[1]?.nonce).toBeGreaterThan(frames[0]?.nonce ?? Infinity);
  });
});

describe("restampFrame()", () => {
  it("is the same response under a newer nonce, and leaves the old one as it was", () => {
    const old = createFrame([lengthDelimited(1, "v1")]);
    const copy = Uint8Array.from(old.bytes);
    const fresh = restampFrame(old);
    expect(fresh.nonce).toBeGreaterThan(old.nonce);
    expect(fresh.bodyLength).toBe(old.bodyLength);
    expect(fresh.bytes.buffer).not.toBe(old.bytes.buffer);
    expect(Uint8Array.from(old.bytes)).toEqual(copy);
    expect(fromBinary(DiscoveryResponseSchema, fresh.bytes)).toMatchObject({
      versionInfo: "v1",
      nonce: String(fresh.nonce),
    });
    expect(fromBinary(DiscoveryResponseSchema, restampFrame(fresh).bytes).versionInfo).toBe("v1");
  });
});
