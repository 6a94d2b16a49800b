import { create, toBinary } from "@bufbuild/protobuf";
import { hashBytes } from "@xdstp/protocol/server";
import { DiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { hashList } from "./hash-list.ts";

describe("hashList()", () => {
  it.each([[[]], [["a"]], [["a", "bb", "xdstp://a/t/ü"]], [["x".repeat(300)]]])(
    "is the hash of the list as a request has it: %j",
    (resourceNames) => {
      const bytes = toBinary(
        DiscoveryRequestSchema,
        create(DiscoveryRequestSchema, { resourceNames }),
      );
      expect(hashList(resourceNames)).toBe(hashBytes(bytes, 0, bytes.length));
    },
  );

  it("tells lists apart, also by order and by where a name ends", () => {
    expect(new Set([["a", "b"], ["b", "a"], ["ab"], ["a", "b", ""], []].map(hashList)).size).toBe(
      5,
    );
  });
});
