import { fromBinary } from "@bufbuild/protobuf";
import { ResourceSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { encodeEmptyResource } from "./first-answer.ts";

describe("encodeEmptyResource()", () => {
  it("has the name, also as its alias, and no body [S-MISS-2]", () => {
    const { name, aliases, version, resource, ttl } = fromBinary(
      ResourceSchema,
      encodeEmptyResource("routes/höst"),
    );
    expect({ name, aliases, version, resource, ttl }).toEqual({
      name: "routes/höst",
      aliases: ["routes/höst"],
      version: "",
      resource: undefined,
      ttl: undefined,
    });
  });
});
