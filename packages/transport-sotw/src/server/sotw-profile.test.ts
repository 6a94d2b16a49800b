import { fromBinary } from "@bufbuild/protobuf";
import type { PutOptions } from "@xdstp/cache";
import { type Entry, XdsError } from "@xdstp/core";
import type { FrameProfile, Frames } from "@xdstp/protocol/server";
import {
  DiscoveryResponseSchema,
  ResourceSchema,
  type DiscoveryResponse,
} from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { added, removed, TYPE } from "../../../cache/test/kept-entries.ts";
import { createSotwProfile, type SotwProfileOptions } from "./sotw-profile.ts";

const WRAPPER = "type.googleapis.com/envoy.service.discovery.v3.Resource";
const stored = "xdstp://a/test.Type/~x";
const asked = "xdstp://a/test.Type/%7Ex";

function profileOf(options: Partial<SotwProfileOptions> = {}): FrameProfile {
  return createSotwProfile({
    typeUrl: TYPE,
    controlPlane: "",
    named: true,
    wrap: false,
    responseBytes: 1 << 20,
    mayBeSplit: true,
    ...options,
  });
}

function encode(entries: readonly Entry[], options?: Partial<SotwProfileOptions>): Frames {
  return profileOf(options).encode(entries, "v1");
}

function read({ list }: Frames): readonly DiscoveryResponse[] {
  return list.map(({ bytes }) => fromBinary(DiscoveryResponseSchema, bytes));
}

/** Returns each resource of the only response: its name if it is wrapped, and its text. */
function told(frames: Frames): readonly string[] {
  const [response] = read(frames);
  return (
    response?.resources.map(({ typeUrl, value }) => {
      if (typeUrl !== WRAPPER) return Buffer.from(value).toString();
      const { name, resourceName, resource } = fromBinary(ResourceSchema, value);
      return `${resourceName?.name ?? name}: ${Buffer.from(resource?.value ?? []).toString()}`;
    }) ?? []
  );
}

/** Returns the length of the single response with these entries. */
function bytesOf(entries: readonly Entry[]): number {
  return encode(entries).list[0]?.bytes.length ?? 0;
}

const hundred = Array.from({ length: 100 }, (_, n) => added(`r${n}`, { text: "x".repeat(100) }));

describe("createSotwProfile().said()", () => {
  it.each<
    readonly [what: string, expected: boolean, Partial<SotwProfileOptions>, PutOptions, PutOptions]
  >([
    ["version of an unwrapped resource", false, {}, { version: "1" }, { version: "2" }],
    [
      "version of a wrapped resource",
      true,
      { wrap: true, named: false },
      { version: "1" },
      { version: "2" },
    ],
    [
      "TTL, to a client that takes none",
      false,
      { wrap: true, named: false },
      { ttlMs: 1_000 },
      { ttlMs: 2_000 },
    ],
    [
      "TTL, to a client that takes one",
      true,
      { wrap: true, named: false, ttl: true },
      { ttlMs: 1_000 },
      { ttlMs: 2_000 },
    ],
    [
      "version of what needs a wrapper, where there is none",
      false,
      { named: false },
      { version: "1" },
      { version: "2" },
    ],
  ])("tells the %s: %s [S-ACK-8] [S-WRAP-2] [S-TTL-1]", (_, expected, options, first, second) => {
    const [one, another] = [first, second].map((put) => profileOf(options).said(added("a", put)));
    expect(Buffer.compare(one ?? Buffer.of(), another ?? Buffer.of()) !== 0).toBe(expected);
  });

  it("tells the content, why there is none, and no removals [S-ERR-1] [S-FULL-2]", () => {
    const profile = profileOf();
    const said = (entry: Entry): Uint8Array => profile.said(entry);
    const failed = (text: string): Entry => ({
      ...removed("a"),
      error: new XdsError("UNAVAILABLE", `over ${text}`, { said: "down" }),
    });
    expect(said(added("a", { text: "1" }))).not.toEqual(said(added("a", { text: "2" })));
    expect(said(failed("one way"))).toEqual(said(failed("another")));
    expect(said(failed("one way")).length).toBeGreaterThan(0);
    expect(said(removed("a"))).toHaveLength(0);
  });
});

describe("createSotwProfile().encode()", () => {
  it("encodes resources with version, type and nonce, and says nothing of removals [S-TYPE-3] [S-NONCE-1]", () => {
    const frames = encode([added("a", { text: "body" }), removed("b")]);
    const [response, ...more] = read(frames);
    expect(more).toEqual([]);
    expect(response).toMatchObject({
      versionInfo: "v1",
      typeUrl: TYPE,
      nonce: String(frames.list[0]?.nonce),
      resources: [{ typeUrl: TYPE }],
    });
    expect(response?.controlPlane).toBeUndefined();
    expect(told(frames)).toEqual(["body"]);
    expect(frames).toMatchObject({ resources: 1, removed: 0, notSent: [] });
  });

  it("names the control plane, if it has a name [B-NODE-9]", () => {
    expect(read(encode([added("a")], { controlPlane: "me" }))).toMatchObject([
      { controlPlane: { identifier: "me" } },
    ]);
  });

  it.each([true, false])(
    "encodes nothing as one empty response, if it may be split: %s [S-WILD-7] [S-FULL-1]",
    (mayBeSplit) => {
      expect(read(encode([], { mayBeSplit }))).toMatchObject([
        { versionInfo: "v1", typeUrl: TYPE, resources: [] },
      ]);
      expect(read(encode([removed("gone")], { mayBeSplit }))).toMatchObject([{ resources: [] }]);
    },
  );

  it("wraps only where that is needed and read [S-WRAP-2]", () => {
    const [plain, spelled] = [added("a", { text: "1" }), added(stored, { text: "2", asked })];
    expect(told(encode([plain, spelled], { wrap: true }))).toEqual(["1", `${asked}: 2`]);
    expect(told(encode([plain, spelled], { wrap: false }))).toEqual(["1", "2"]);
    expect(told(encode([plain, spelled], { wrap: true, named: false }))).toEqual([
      "a: 1",
      `${asked}: 2`,
    ]);
  });

  it("keeps version and aliases in the wrapper, and leaves a TTL out [S-WRAP-2] [S-TTL-1]", () => {
    const [response] = read(
      encode([added("a", { version: "7", ttlMs: 1_000 })], { wrap: true, named: false }),
    );
    const wrapper = fromBinary(ResourceSchema, response?.resources[0]?.value ?? new Uint8Array());
    expect(wrapper).toMatchObject({ name: "a", version: "7", aliases: [] });
    expect(wrapper.ttl).toBeUndefined();
  });

  it.each([
    ["no name of its own", "a", { named: false }, {}],
    [
      "another type",
      "moved",
      {},
      { payloadTypeUrl: "type.googleapis.com/xds.core.v3.ResourceLocator" },
    ],
    ["constraints", "a", {}, { constraints: new Uint8Array([26, 0]) }],
  ])(
    "wraps a payload with %s, and leaves it out for clients that do not read that [S-WRAP-2] [S-WRAP-3] [B-WRAP-4]",
    (_, name, options, put) => {
      const entry = added(name, { text: "1", ...put });
      expect(told(encode([entry], { ...options, wrap: true }))).toEqual([`${name}: 1`]);
      expect(encode([entry], { ...options, wrap: false })).toMatchObject({
        resources: 0,
        notSent: [{ name, reason: "needs-wrapper" }],
      });
    },
  );

  it("sends the rest where one cannot be said [S-WRAP-3]", () => {
    const frames = encode([
      added("a", { text: "1" }),
      added("b", { constraints: new Uint8Array([26, 0]) }),
    ]);
    expect(told(frames)).toEqual(["1"]);
    expect(frames).toMatchObject({
      resources: 1,
      notSent: [{ name: "b", reason: "needs-wrapper" }],
    });
  });

  it("takes for missing in a full state what cannot be said, and sends nothing for it elsewhere [S-WRAP-3] [S-FULL-5]", () => {
    const entries = [added("a", { constraints: new Uint8Array([26, 0]) })];
    expect(read(encode(entries, { mayBeSplit: false }))).toMatchObject([{ resources: [] }]);
    expect(encode(entries, { mayBeSplit: true }).list).toEqual([]);
  });

  it("splits where it may what is larger than a response may be [S-SIZE-3]", () => {
    const limit = 2_000;
    const frames = encode(hundred, { responseBytes: limit });
    const parts = read(frames);
    expect(parts.length).toBeGreaterThan(5);
    expect(frames.list.every(({ bytes }) => bytes.length <= limit)).toBe(true);
    expect(new Set(parts.map(({ nonce }) => nonce)).size).toBe(parts.length);
    expect(parts.every(({ typeUrl }) => typeUrl === TYPE)).toBe(true);
    expect(parts.at(-1)?.versionInfo).toBe("v1");
    expect(new Set(parts.map(({ versionInfo }) => versionInfo)).size).toBe(parts.length);
    expect(parts.flatMap(({ resources }) => resources)).toHaveLength(100);
    expect(frames).toMatchObject({ resources: 100, notSent: [] });
  });

  it("keeps a response whole that just fits, and parts it one byte above [S-SIZE-3]", () => {
    const two = hundred.slice(0, 2);
    const limits = Array.from(
      { length: 64 },
      (_, n) => (encode(two).list[0]?.bytes.length ?? 0) + n,
    );
    const counts = limits.map((responseBytes) => encode(two, { responseBytes }).list.length);
    expect([counts[0], counts.at(-1)]).toEqual([2, 1]);
    expect(
      limits.every((responseBytes) =>
        encode(two, { responseBytes }).list.every(({ bytes }) => bytes.length <= responseBytes),
      ),
    ).toBe(true);
  });

  it("makes no response of a full state that is too large, and names all of it [S-SIZE-3]", () => {
    const frames = encode(hundred, { responseBytes: 2_000, mayBeSplit: false });
    expect(frames.list).toEqual([]);
    const bytes = bytesOf(hundred) - bytesOf([]);
    expect(frames.notSent).toEqual(
      hundred.map(({ name }) => ({ name, reason: "too-large", bytes, limit: "fullStateBytes" })),
    );
    const whole = encode(hundred, { responseBytes: 20_000, mayBeSplit: false });
    expect(whole).toMatchObject({ resources: 100, notSent: [] });
    expect(whole.list).toHaveLength(1);
  });

  it("leaves out a resource that fits no response, sends the rest and says so [S-SIZE-4]", () => {
    const frames = encode(
      [added("giant", { text: "x".repeat(5_000) }), added("a", { text: "1" })],
      { responseBytes: 2_000 },
    );
    expect(told(frames)).toEqual(["1"]);
    expect(frames).toMatchObject({
      resources: 1,
      notSent: [{ name: "giant", reason: "too-large" }],
    });
  });

  it("names to a client that reads errors the size of what fits no response, and the limit to raise [S-SIZE-4]", () => {
    const { list } = encode([added("giant", { text: "x".repeat(5_000) })], {
      responseBytes: 2_000,
      mayBeSplit: true,
      errors: true,
    });
    expect(Buffer.from(list[0]?.bytes ?? []).toString()).toMatch(
      /the resource has 50\d\d bytes, and a response of this server has room for 19\d\d; make .*"responseBytes"/,
    );
  });

  it.each([true, false])(
    "makes no response where nothing of it fits, if it may be split: %s [S-SIZE-4]",
    (mayBeSplit) => {
      expect(
        encode([added("giant", { text: "x".repeat(5_000) })], { responseBytes: 2_000, mayBeSplit })
          .list,
      ).toEqual([]);
    },
  );
});
