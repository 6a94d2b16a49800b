import { createCache } from "@xdstp/cache";
import type { ResourceType } from "@xdstp/core";
import { createServerContext } from "@xdstp/protocol/server";
import { fromBinary } from "@bufbuild/protobuf";
import { DiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { added, TYPE } from "../../../cache/test/kept-entries.ts";
import { createProfileOf, type ProfileOf } from "./profile-of.ts";

const LIMIT = 2_000;
const FULL_LIMIT = 4_000;
const UNKNOWN = "type.googleapis.com/test.Unknown";

function useProfiles(type: Partial<ResourceType> = {}): ProfileOf {
  const source = createCache({ types: [{ typeUrl: TYPE, ...type }] });
  return createProfileOf(
    createServerContext({
      source,
      controlPlane: "me",
      limits: { responseBytes: LIMIT, fullStateBytes: FULL_LIMIT },
    }),
  );
}

const wrapped = { wrap: true, ttl: false, errors: false };
const plainly = { wrap: false, ttl: false, errors: false };
const entries = ["a", "b", "c"].map((name) => added(name, { text: "x".repeat(LIMIT / 2) }));
const plain = [added("a", { text: "1" })];

describe("createProfileOf()", () => {
  it("gives a type that is served one profile for each of both kinds of client, so that their streams share frames", () => {
    const profileOf = useProfiles();
    expect(profileOf(TYPE, wrapped)).toBe(profileOf(TYPE, wrapped));
    expect(profileOf(TYPE, plainly)).toBe(profileOf(TYPE, plainly));
    expect(profileOf(TYPE, plainly)).not.toBe(profileOf(TYPE, wrapped));
  });

  it("keeps those of the first types that are not served, since their resources may come: a client cannot make it grow [S-LIM-4]", () => {
    const profileOf = useProfiles();
    const isKept = (n: number): boolean =>
      profileOf(`${UNKNOWN}${n}`, wrapped) === profileOf(`${UNKNOWN}${n}`, wrapped);
    expect(Array.from({ length: 300 }, (_, n) => isKept(n)).filter(Boolean)).toHaveLength(256);
    expect(profileOf(TYPE, wrapped)).toBe(profileOf(TYPE, wrapped));
  });

  it("splits what has no full state at the limit of a response [S-SIZE-3]", () => {
    const { list } = useProfiles()(TYPE, plainly).encode(entries, "v1");
    expect(list).toHaveLength(3);
    expect(list.map(({ bytes }) => fromBinary(DiscoveryResponseSchema, bytes))).toMatchObject(
      entries.map(() => ({ typeUrl: TYPE, controlPlane: { identifier: "me" } })),
    );
  });

  it("sends a full state whole up to a limit of its own [S-SIZE-3]", () => {
    const profile = useProfiles({ fullStateInSotw: true })(TYPE, plainly);
    expect(profile.encode(entries, "v1").list).toHaveLength(1);
    expect(
      profile.encode([...entries, added("d", { text: "x".repeat(LIMIT / 2) })], "v1").list,
    ).toEqual([]);
  });

  it("takes a payload for nameless where the type says so, and where there is no descriptor [B-WRAP-4]", () => {
    expect(useProfiles({ nameField: 0 })(TYPE, plainly).encode(plain, "v1").notSent).toEqual([
      { name: "a", reason: "needs-wrapper" },
    ]);
    expect(useProfiles({ nameField: 2 })(TYPE, plainly).encode(plain, "v1").notSent).toEqual([]);
    expect(useProfiles()(TYPE, plainly).encode(plain, "v1").notSent).toEqual([]);
    expect(useProfiles()(UNKNOWN, plainly).encode(plain, "v1").notSent).toEqual([
      { name: "a", reason: "needs-wrapper" },
    ]);
    expect(useProfiles()(UNKNOWN, wrapped).encode(plain, "v1").notSent).toEqual([]);
  });

  it("has heartbeats for clients that take TTLs and read wrapped resources, unless one without body says that there is none [S-TTL-1] [B-TTL-10]", () => {
    const has = (
      form: Parameters<ProfileOf>[1],
      typeUrl = TYPE,
      type: Partial<ResourceType> = {},
    ): boolean => "heartbeat" in useProfiles(type)(typeUrl, form);
    expect(
      [wrapped, { ...wrapped, ttl: true }, { ...plainly, ttl: true }].map((form) => has(form)),
    ).toEqual([false, true, false]);
    const takes = { ...wrapped, ttl: true };
    expect([
      has(takes, TYPE, { missingAs: "empty-resource" }),
      has(takes, TYPE, { missingAs: "removed" }),
      has(takes, UNKNOWN),
    ]).toEqual([false, true, true]);
  });
});
