import { create } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { anyToJson, envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, test } from "vitest";
import { clusterTemplate, clusterType } from "./clusters.ts";

describe("clusterTemplate()", () => {
  test("gives real clusters of 330 to 450 bytes with the name and the stamp that were asked for", () => {
    const value = clusterTemplate().fill(1234567, 42);
    expect(value.length).toBeGreaterThanOrEqual(330);
    expect(value.length).toBeLessThanOrEqual(450);
    expect(
      anyToJson(create(AnySchema, { typeUrl: clusterType, value }), envoyRegistry()),
    ).toMatchObject({
      name: "service-1234567",
      edsClusterConfig: { serviceName: "service-1234567" },
      metadata: { filterMetadata: { "com.example.bench": { revision: "stamp-0000000042" } } },
    });
  });
});
