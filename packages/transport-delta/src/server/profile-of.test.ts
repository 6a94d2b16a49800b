import { createCache } from "@xdstp/cache";
import { fromBinary } from "@bufbuild/protobuf";
import { createServerContext } from "@xdstp/protocol/server";
import { DeltaDiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { added, TYPE } from "../../../cache/test/kept-entries.ts";
import { createProfileOf, type ProfileOf } from "./profile-of.ts";

const LIMIT = 2_000;
const plainly = { ttl: false, errors: false };

function useProfiles(): ProfileOf {
  const source = createCache({ types: [{ typeUrl: TYPE }] });
  return createProfileOf(
    createServerContext({ source, controlPlane: "me", limits: { responseBytes: LIMIT } }),
  );
}

describe("createProfileOf()", () => {
  it("gives a type that is served one profile, so that its streams share frames", () => {
    const profileOf = useProfiles();
    expect(profileOf(TYPE, plainly)).toBe(profileOf(TYPE, plainly));
  });

  it("keeps those of the first types that are not served, since their resources may come: a client cannot make it grow [S-LIM-4]", () => {
    const profileOf = useProfiles();
    const isKept = (n: number): boolean =>
      profileOf(`type.googleapis.com/test.Unknown${n}`, plainly) ===
      profileOf(`type.googleapis.com/test.Unknown${n}`, plainly);
    expect(Array.from({ length: 300 }, (_, n) => isKept(n)).filter(Boolean)).toHaveLength(256);
    expect(profileOf(TYPE, plainly)).toBe(profileOf(TYPE, plainly));
  });

  it("goes by the type, the control plane and the limit of the context [B-NODE-9] [S-SIZE-1]", () => {
    const profile = useProfiles()(TYPE, plainly);
    const { list } = profile.encode(
      ["a", "b", "c"].map((name) => added(name, { text: "x".repeat(LIMIT / 2) })),
      "v1",
    );
    expect(list).toHaveLength(3);
    expect(list.map(({ bytes }) => fromBinary(DeltaDiscoveryResponseSchema, bytes))).toMatchObject(
      ["a", "b", "c"].map((name) => ({
        typeUrl: TYPE,
        controlPlane: { identifier: "me" },
        resources: [{ name }],
      })),
    );
  });
});
