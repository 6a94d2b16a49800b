import { fromBinary } from "@bufbuild/protobuf";
import { type Entry, XdsError } from "@xdstp/core";
import type { Frames } from "@xdstp/protocol/server";
import { DeltaDiscoveryResponseSchema, type DeltaDiscoveryResponse } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { added, removed, TYPE } from "../../../cache/test/kept-entries.ts";
import { createDeltaProfile } from "./delta-profile.ts";

const LARGE = 1 << 20;

function encode(entries: readonly Entry[], responseBytes = LARGE, controlPlane = ""): Frames {
  return createDeltaProfile({ typeUrl: TYPE, controlPlane, responseBytes }).encode(entries, "v1");
}

function read({ list }: Frames): readonly DeltaDiscoveryResponse[] {
  return list.map(({ bytes }) => fromBinary(DeltaDiscoveryResponseSchema, bytes));
}

/** Returns the length of the single response with these entries. */
function bytesOf(entries: readonly Entry[]): number {
  return encode(entries).list[0]?.bytes.length ?? 0;
}

const hundred = Array.from({ length: 100 }, (_, n) => added(`r${n}`, { text: "x".repeat(100) }));

describe("createDeltaProfile().said()", () => {
  const saidOf = (entry: Entry, ttl = false): Uint8Array =>
    createDeltaProfile({ typeUrl: TYPE, controlPlane: "", responseBytes: LARGE, ttl }).said(entry);
  const failed = (code: "NOT_FOUND" | "UNAVAILABLE", text: string, said?: string): Entry => ({
    ...removed("a"),
    error: new XdsError(code, text, said === undefined ? {} : { said }),
  });

  it.each<readonly [what: string, expected: boolean, one: Uint8Array, another: Uint8Array]>([
    ["content", true, saidOf(added("a", { text: "1" })), saidOf(added("a", { text: "2" }))],
    ["version", true, saidOf(added("a", { version: "1" })), saidOf(added("a", { version: "2" }))],
    [
      "TTL, to a client that takes one",
      true,
      saidOf(added("a", { ttlMs: 1_000 }), true),
      saidOf(added("a", { ttlMs: 2_000 }), true),
    ],
    [
      "TTL, to another",
      false,
      saidOf(added("a", { ttlMs: 1_000 })),
      saidOf(added("a", { ttlMs: 2_000 })),
    ],
    [
      "reason",
      true,
      saidOf(failed("UNAVAILABLE", "one")),
      saidOf(failed("UNAVAILABLE", "another")),
    ],
    [
      "reason in the words of another server",
      false,
      saidOf(failed("UNAVAILABLE", "over one way", "down")),
      saidOf(failed("UNAVAILABLE", "over another", "down")),
    ],
    [
      "reason that delta does not tell",
      false,
      saidOf(removed("a")),
      saidOf(failed("NOT_FOUND", "never was")),
    ],
  ])("tells the %s: %s [S-ACK-8] [S-TTL-1] [S-ERR-3]", (_, expected, one, another) => {
    expect(Buffer.compare(one, another) !== 0).toBe(expected);
  });
});

describe("createDeltaProfile().encode()", () => {
  it("encodes resources and removals with version, type and nonce [S-TYPE-3] [S-NONCE-1]", () => {
    const frames = encode([added("a", { text: "body", version: "7" }), removed("b")]);
    const [response, ...more] = read(frames);
    expect(more).toEqual([]);
    expect(response).toMatchObject({
      systemVersionInfo: "v1",
      typeUrl: TYPE,
      nonce: String(frames.list[0]?.nonce),
      removedResources: ["b"],
    });
    expect(response?.controlPlane).toBeUndefined();
    expect(response?.resources).toMatchObject([
      { name: "a", version: "7", resource: { typeUrl: TYPE } },
    ]);
    expect(Buffer.from(response?.resources[0]?.resource?.value ?? []).toString()).toBe("body");
    expect(frames).toMatchObject({ resources: 1, removed: 1, notSent: [] });
  });

  it("names the control plane, if it has a name [B-NODE-9]", () => {
    expect(read(encode([added("a")], LARGE, "me"))).toMatchObject([
      { controlPlane: { identifier: "me" } },
    ]);
  });

  it("encodes nothing as one empty response [S-RECON-6]", () => {
    const frames = encode([]);
    expect(read(frames)).toMatchObject([{ typeUrl: TYPE, resources: [], removedResources: [] }]);
    expect(frames).toMatchObject({ resources: 0, removed: 0, notSent: [] });
  });

  it("answers under the spelling that was asked, and leaves the rest of the resource as it is [N-42]", () => {
    const name = "xdstp://a/test.Type/~x";
    const [plain] = read(encode([added(name, { text: "body" })]));
    const [asked] = read(
      encode([added(name, { text: "body", asked: "xdstp://a/test.Type/%7Ex" })]),
    );
    expect(plain?.resources[0]?.name).toBe(name);
    expect(asked?.resources[0]).toEqual({
      ...plain?.resources[0],
      name: "xdstp://a/test.Type/%7Ex",
    });
  });

  it("leaves a TTL out [S-TTL-1]", () => {
    const [response] = read(encode([added("a", { ttlMs: 1_000 })]));
    expect(response?.resources[0]?.ttl).toBeUndefined();
  });

  it("splits what is larger than a response may be into parts that are complete in themselves [S-SIZE-2]", () => {
    const limit = 2_000;
    const frames = encode([...hundred, removed("gone")], limit);
    const parts = read(frames);
    expect(parts.length).toBeGreaterThan(5);
    expect(frames.list.every(({ bytes }) => bytes.length <= limit)).toBe(true);
    expect(new Set(parts.map(({ nonce }) => nonce)).size).toBe(parts.length);
    expect(
      parts.every(
        ({ systemVersionInfo, typeUrl }) => systemVersionInfo === "v1" && typeUrl === TYPE,
      ),
    ).toBe(true);
    expect(parts.flatMap(({ resources }) => resources.map(({ name }) => name))).toEqual(
      hundred.map(({ name }) => name),
    );
    expect(parts.flatMap(({ removedResources }) => removedResources)).toEqual(["gone"]);
    expect(frames).toMatchObject({ resources: 100, removed: 1, notSent: [] });
  });

  it("leaves no part emptier than it must be [S-SIZE-2]", () => {
    const limit = 2_000;
    const sizes = encode(hundred, limit).list.map(({ bytes }) => bytes.length);
    const one = encode(hundred.slice(0, 1)).list[0]?.bytes.length ?? 0;
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(limit - one - 40);
  });

  it("keeps a response whole that just fits, and parts it one byte above [S-SIZE-2]", () => {
    const two = hundred.slice(0, 2);
    const limits = Array.from(
      { length: 64 },
      (_, n) => (encode(two).list[0]?.bytes.length ?? 0) + n,
    );
    const fits = limits.map((limit) => encode(two, limit).list.length);
    expect(fits[0]).toBe(2);
    expect(fits.at(-1)).toBe(1);
    expect(
      limits.every((limit) => encode(two, limit).list.every(({ bytes }) => bytes.length <= limit)),
    ).toBe(true);
  });

  const giant = added("giant", { text: "x".repeat(5_000) });

  it("leaves out a resource that fits no response, sends the rest and says so [S-SIZE-4]", () => {
    const frames = encode([hundred[0] ?? removed(""), giant, removed("gone")], 2_000);
    expect(read(frames)).toMatchObject([
      { resources: [{ name: "r0" }], removedResources: ["gone"] },
    ]);
    expect(frames).toMatchObject({
      resources: 1,
      removed: 1,
      notSent: [
        {
          name: "giant",
          reason: "too-large",
          bytes: bytesOf([giant]) - bytesOf([]),
          limit: "responseBytes",
        },
      ],
    });
  });

  it("names to a client that reads errors the size of what fits no response, the room and the limit to raise [S-SIZE-4]", () => {
    const [response] = read(
      createDeltaProfile({
        typeUrl: TYPE,
        controlPlane: "",
        responseBytes: 2_000,
        errors: true,
      }).encode([giant], "v1"),
    );
    expect(response?.resourceErrors.map(({ errorDetail }) => errorDetail?.message)).toEqual([
      expect.stringMatching(
        /^the resource has 50\d\d bytes, and a response of this server has room for 19\d\d; make .*"responseBytes"/,
      ) as string,
    ]);
  });

  it("makes no response where nothing of it can be sent [S-SIZE-4]", () => {
    const frames = encode([added("giant", { text: "x".repeat(5_000) })], 2_000);
    expect(frames).toMatchObject({
      list: [],
      resources: 0,
      removed: 0,
      notSent: [{ name: "giant", reason: "too-large" }],
    });
  });
});
