import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";
import { describe, expect, test } from "vitest";
import { ackOf, readResponse } from "./ack-of.ts";

const resource = { typeUrl: "type.googleapis.com/acme.Flag", value: new Uint8Array(300) };

describe("ackOf()", () => {
  test("acknowledges a delta response", () => {
    const response = create(DeltaDiscoveryResponseSchema, {
      typeUrl: "acme.Flag",
      nonce: "77",
      systemVersionInfo: "5",
      resources: [
        { name: "a", resource },
        { name: "b", resource },
      ],
    });
    const message = Buffer.from(toBinary(DeltaDiscoveryResponseSchema, response));
    const read = readResponse(message);
    expect(read.resources).toBe(2);
    const ack = ackOf(message, read, "delta");
    expect(ack.readUInt32BE(1)).toBe(ack.length - 5);
    expect(fromBinary(DeltaDiscoveryRequestSchema, ack.subarray(5))).toMatchObject({
      typeUrl: "acme.Flag",
      responseNonce: "77",
    });
  });

  test("acknowledges a SotW response under its version", () => {
    const response = create(DiscoveryResponseSchema, {
      typeUrl: "acme.Flag",
      nonce: "77",
      versionInfo: "v5",
      resources: [resource],
    });
    const message = Buffer.from(toBinary(DiscoveryResponseSchema, response));
    const read = readResponse(message);
    expect(read.resources).toBe(1);
    expect(
      fromBinary(DiscoveryRequestSchema, ackOf(message, read, "sotw").subarray(5)),
    ).toMatchObject({ typeUrl: "acme.Flag", responseNonce: "77", versionInfo: "v5" });
  });
});
