import { fromBinary } from "@bufbuild/protobuf";
import { ResourceSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { storedResource } from "../../test/entries.ts";
import { lengthDelimited } from "@xdstp/core/wire";
import { encodeHeartbeat } from "./encode-heartbeat.ts";

const TTL = 6;
/** The TTL comes after the bytes that a heartbeat leaves out. */
const wire = Buffer.concat([Buffer.from("left out"), lengthDelimited(TTL, Buffer.of(8, 9))]);
const stored = { ...storedResource("stored"), version: "v1", wire, bare: 8 };

describe("encodeHeartbeat()", () => {
  it("has name, version and TTL, and no body [S-TTL-2]", () => {
    const { name, version, ttl, resource, resourceName } = fromBinary(
      ResourceSchema,
      encodeHeartbeat({ name: "asked" }, stored),
    );
    expect({ name, version, seconds: ttl?.seconds, resource, resourceName }).toEqual({
      name: "asked",
      version: "v1",
      seconds: 9n,
      resource: undefined,
      resourceName: undefined,
    });
  });

  it("names a variant by its name and constraints", () => {
    const constraints = Buffer.of(0x12, 0);
    const { name, version, resourceName } = fromBinary(
      ResourceSchema,
      encodeHeartbeat({ name: "asked" }, { ...stored, constraints }),
    );
    expect({ name, version }).toEqual({ name: "", version: "v1" });
    expect(resourceName).toMatchObject({ name: "asked", dynamicParameterConstraints: {} });
    expect(resourceName?.dynamicParameterConstraints).toBeDefined();
  });
});
