import { walkFields } from "@xdstp/core/wire";
import { WireType as Wire } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { createRandom, scaled, seed } from "../../test/random.ts";
import { decodeDelta, randomMessage, randomRequest } from "../../test/random-requests.ts";

describe("walkFields with random requests", () => {
  it("never throws, and completes every request that decodes and has no group", () => {
    const random = createRandom(seed);
    for (let i = 0; i < scaled(200_000); i++) {
      walkFields(randomMessage(random, "sotw"), () => undefined);
      const bytes = randomRequest(random, "delta");
      const walk = walkFields(bytes, () => undefined);
      const request = decodeDelta(bytes);
      if (request === undefined) continue;
      const groups =
        request.$unknown?.some(({ wireType }) => wireType === Wire.StartGroup) ?? false;
      expect(walk.outcome, `seed ${seed}, case ${i}`).toBe(groups ? "malformed" : "complete");
    }
  });
});
