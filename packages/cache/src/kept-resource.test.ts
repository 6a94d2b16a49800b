import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Duration, durationMs } from "@bufbuild/protobuf/wkt";
import type { Put, Resource } from "@xdstp/core";
import {
  DiscoveryResponseSchema,
  DynamicParameterConstraintsSchema,
  MetadataSchema,
  ResourceSchema,
} from "@xdstp/protos/discovery";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { character } from "../test/character.ts";
import { put, T } from "../test/scene.ts";
import { contentVersion, createCache, keepResource } from "./index.ts";
import { KeptResource } from "./kept-resource.ts";
import { resourceHash } from "./content-version.ts";

const scale = Number(process.env.XDSTP_SCALE ?? "0.01");
const payload = { typeUrl: T, value: Uint8Array.of(1, 2, 3) };
const constraints = toBinary(
  DynamicParameterConstraintsSchema,
  create(DynamicParameterConstraintsSchema, {
    type: {
      case: "constraint",
      value: { key: "k", constraintType: { case: "value", value: "v" } },
    },
  }),
);
const metadata = toBinary(
  MetadataSchema,
  create(MetadataSchema, { filterMetadata: { f: { a: "b" } } }),
);

function milliseconds(ttl: Duration | undefined): number | undefined {
  return ttl === undefined ? undefined : durationMs(ttl);
}

describe("KeptResource", () => {
  it("is read by protobuf-es as what was put in", () => {
    const resources: fc.Arbitrary<Resource> = fc.record(
      {
        name: fc.string({ unit: character, minLength: 1, maxLength: 200 }),
        version: fc.string({ unit: character, minLength: 1 }),
        payload: fc.record({
          typeUrl: fc.string({ unit: character, minLength: 1 }),
          value: fc.uint8Array({ maxLength: 400 }),
        }),
        aliases: fc.array(fc.string({ unit: character }), { maxLength: 3 }),
        ttlMs: fc.integer({ min: 1, max: 2 ** 45 }),
        noStore: fc.boolean(),
        constraints: fc.constant(constraints),
        metadata: fc.constant(metadata),
      },
      { requiredKeys: ["name", "version", "payload"] },
    );
    fc.assert(
      fc.property(resources, (resource) => {
        const { wire, bare } = new KeptResource(resource, resource.version);
        const read = fromBinary(ResourceSchema, wire);
        expect(read.version).toBe(resource.version);
        expect(read.resource?.typeUrl).toBe(resource.payload.typeUrl);
        expect(
          Buffer.compare(read.resource?.value ?? new Uint8Array(), resource.payload.value),
        ).toBe(0);
        expect(read.aliases).toEqual(resource.aliases ?? []);
        expect(read.cacheControl?.doNotCache ?? false).toBe(resource.noStore ?? false);
        expect(milliseconds(read.ttl)).toBe(resource.ttlMs);
        expect(resource.constraints === undefined ? read.name : read.resourceName?.name).toBe(
          resource.name,
        );
        expect(read.resourceName === undefined).toBe(resource.constraints === undefined);
        delete read.ttl;
        expect(toBinary(ResourceSchema, read)).toEqual(new Uint8Array(wire.subarray(0, bare)));
      }),
      { numRuns: Math.ceil(100_000 * scale) },
    );
  });

  it("sets one of name and resource_name: the second with constraints [S-DYN-2]", () => {
    const { wire } = new KeptResource({ name: "n", version: "1", payload, constraints }, "1");
    const read = fromBinary(ResourceSchema, wire);
    expect(read.name).toBe("");
    expect(read.resourceName).toMatchObject({
      name: "n",
      dynamicParameterConstraints: { type: { case: "constraint", value: { key: "k" } } },
    });
  });

  it("has the TTL as its last field, so that it can be cut off [S-TTL-1]", () => {
    const withTtl = new KeptResource(
      { name: "n", version: "1", payload, metadata, ttlMs: 1500 },
      "1",
    );
    const without = new KeptResource({ name: "n", version: "1", payload, metadata }, "1");
    expect(without.bare).toBe(without.wire.length);
    expect(withTtl.bare).toBeLessThan(withTtl.wire.length);
    expect([...withTtl.wire.subarray(0, withTtl.bare)]).toEqual([...without.wire]);
    expect(fromBinary(ResourceSchema, withTtl.wire).ttl).toMatchObject({
      seconds: 1n,
      nanos: 500_000_000,
    });
    expect(
      fromBinary(
        ResourceSchema,
        new KeptResource({ name: "n", version: "1", payload, ttlMs: 0.25 }, "1").wire,
      ).ttl,
    ).toMatchObject({ seconds: 0n, nanos: 250_000 });
  });

  it.each([250, 2000, 1250])(
    "encodes a TTL of %d ms as other encoders do, without what is zero [S-TTL-1]",
    (ttlMs) => {
      const { wire } = new KeptResource({ name: "n", version: "1", payload, ttlMs }, "1");
      expect(toBinary(ResourceSchema, fromBinary(ResourceSchema, wire)).length).toBe(wire.length);
    },
  );

  it("holds the `resources` field of a SotW response", () => {
    const {
      wire,
      any: [start, end],
    } = new KeptResource({ name: "n", version: "1", payload, aliases: ["a"] }, "1");
    const response = fromBinary(DiscoveryResponseSchema, wire.subarray(start, end));
    expect(response.resources).toMatchObject([{ typeUrl: T, value: payload.value }]);
    expect(toBinary(DiscoveryResponseSchema, response)).toEqual(
      new Uint8Array(wire.subarray(start, end)),
    );
  });

  it("keeps one copy of the payload, and nothing of the message that it came in", () => {
    const message = new Uint8Array(100_000).fill(9);
    const kept = new KeptResource(
      {
        name: "n",
        version: "1",
        payload: { typeUrl: T, value: message.subarray(10, 20) },
        metadata: message.subarray(0, 0),
        constraints: message.subarray(5, 5),
      },
      "1",
    );
    message.fill(0);
    expect([...kept.payload.value]).toEqual(Array.from({ length: 10 }, () => 9));
    for (const view of [kept.payload.value, kept.metadata, kept.constraints])
      expect(view?.buffer).toBe(kept.wire.buffer);
    expect(kept.wire.buffer.byteLength).toBe(kept.wire.length);
  });

  it("has the hash of its name and version [S-VER-2]", () => {
    expect(new KeptResource({ name: "n", version: "", payload }, "v").hash).toBe(
      resourceHash("n", "v"),
    );
  });

  it.each(["constraints", "metadata"] as const)(
    "knows a content without %s from one with them",
    (part) => {
      const without = {
        name: "n",
        version: "1",
        payload,
        ...(part === "metadata" ? { constraints } : { metadata }),
      };
      const whole = { ...without, [part]: metadata };
      expect(new KeptResource(without, "1").hasContentOf(whole)).toBe(false);
      expect(new KeptResource(whole, "1").hasContentOf(without)).toBe(false);
      expect(new KeptResource(without, "1").hasContentOf(without)).toBe(true);
    },
  );

  it.each([
    ["value", { payload: { typeUrl: T, value: Uint8Array.of(1, 2, 4) } }],
    ["type", { payload: { ...payload, typeUrl: `${T}2` } }],
    ["aliases", { aliases: ["b"] }],
    ["number of aliases", { aliases: ["a", "b"] }],
    ["constraints", { constraints: Uint8Array.of(1) }],
    ["metadata", { metadata: Uint8Array.of(2) }],
  ])("knows a content with another %s from its own", (_, change) => {
    const resource = { name: "n", version: "1", payload, aliases: ["a"], constraints, metadata };
    const kept = new KeptResource(resource, "1");
    expect(kept.hasContentOf({ ...resource, version: "2", ttlMs: 5, noStore: true })).toBe(true);
    expect(kept.hasContentOf({ ...resource, ...change })).toBe(false);
  });
});

/** Returns the first byte of the payload that readers receive, and the version. */
function served(cache: ReturnType<typeof createCache>, name = "x"): unknown {
  const resource = cache.topic(T, { name }).members()[0]?.resource;
  return [resource?.payload.value[0], resource?.version];
}

function bytesOf({ resource }: Put): Uint8Array {
  return resource.payload.value;
}

describe("prepare()", () => {
  it("changes nothing that readers see", () => {
    const cache = createCache();
    cache.prepare?.(put("x").resource);
    expect([cache.revision, served(cache)]).toEqual([0, [undefined, undefined]]);
  });

  it("encodes the resource: the commit that puts it does not encode it again [S-VER-4]", () => {
    const cache = createCache();
    const one = put("x", "a");
    const before = createCache();
    before.commit({ put: [one] });
    cache.prepare?.(one.resource);
    bytesOf(one)[0] = 0;
    cache.commit({ put: [one] });
    expect(served(cache)).toEqual(served(before));
  });

  it("keeps the version that the resource states", () => {
    const cache = createCache();
    const one = put("x", "a", { version: "7" });
    cache.prepare?.(one.resource);
    cache.commit({ put: [one] });
    expect(served(cache)).toEqual([bytesOf(one)[0], "7"]);
  });

  it("keeps a reused version unique [B-VER-5]", () => {
    const cache = createCache();
    cache.commit({ put: [put("x", "a", { version: "7" })] });
    const other = put("x", "b", { version: "7" });
    cache.prepare?.(other.resource);
    cache.commit({ put: [other] });
    expect(served(cache)).toEqual([bytesOf(other)[0], expect.stringMatching(/^7~/) as unknown]);
  });

  it("does not throw for a resource that cannot be encoded; the commit rejects it", () => {
    const cache = createCache();
    const bad = put("x");
    const resource = { ...bad.resource, payload: { typeUrl: T, value: "text" as never } };
    cache.prepare?.(resource);
    expect(cache.commit({ put: [{ ...bad, resource }] }).rejected).toHaveLength(1);
  });
});

describe("keepResource()", () => {
  it("keeps a given version, and derives one from the content where none is given, as the cache does [S-VER-4]", () => {
    const [given, derived] = [put("x", "1", { version: "v" }).resource, put("x", "1").resource];
    expect([keepResource(given).version, keepResource(derived).version]).toEqual([
      "v",
      contentVersion(derived),
    ]);
    expect([keepResource(given).given, keepResource(derived).given]).toEqual([
      "v",
      contentVersion(derived),
    ]);
    const cache = createCache();
    cache.commit({ put: [put("x")] });
    const { resource } = cache.topic(put("x").typeUrl, { name: "x" }).members()[0] ?? {};
    expect([keepResource(derived).wire, keepResource(derived).hash]).toEqual([
      resource?.wire,
      resource?.hash,
    ]);
  });
});
