import { fromBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { expect, test } from "vitest";
import { firstRequest, heldVersions } from "./first-request.ts";

test("firstRequest() lists the versions that are held behind who asks", () => {
  const request = firstRequest({ variant: "delta" }, 7, heldVersions({ a: "1", b: "2" }));
  expect(request.readUInt32BE(1)).toBe(request.length - 5);
  expect(fromBinary(DeltaDiscoveryRequestSchema, request.subarray(5))).toMatchObject({
    node: { id: "client-7" },
    initialResourceVersions: { a: "1", b: "2" },
  });
});
