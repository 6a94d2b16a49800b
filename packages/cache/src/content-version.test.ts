import { createHash } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import {
  DynamicParameterConstraintsSchema,
  MetadataSchema,
  ResourceSchema,
} from "@xdstp/protos/discovery";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { character } from "../test/character.ts";
import { contentVersion, hashWith, hashWithout, resourceHash } from "./content-version.ts";

type Content = Parameters<typeof contentVersion>[0];

const scale = Number(process.env.XDSTP_SCALE ?? "0.01");

/** Computes the version in another way: protobuf-es encodes, `createHash` hashes. */
function expected(content: Content): string {
  const resource = create(ResourceSchema, {
    resource: create(AnySchema, content.payload),
    aliases: [...(content.aliases ?? [])],
    ...(content.constraints === undefined
      ? {}
      : {
          resourceName: {
            dynamicParameterConstraints: fromBinary(
              DynamicParameterConstraintsSchema,
              content.constraints,
            ),
          },
        }),
    ...(content.metadata === undefined
      ? {}
      : { metadata: fromBinary(MetadataSchema, content.metadata) }),
  });
  return createHash("sha256")
    .update(toBinary(ResourceSchema, resource))
    .digest("base64url")
    .slice(0, 22);
}

const payload = { typeUrl: "type.googleapis.com/t.T", value: Uint8Array.of(1, 2, 3) };
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

describe("contentVersion()", () => {
  // `printf BYTES | sha256sum`, first 16 bytes, base64url.
  it.each([
    ["a payload", { payload }, "lTWFgUwQRyu-f7VYZ9heGn"],
    [
      "an empty payload",
      { payload: { typeUrl: "type.googleapis.com/t.T", value: new Uint8Array() } },
      "2AiFQyZPUm0ubYPtJAX1-L",
    ],
    [
      "aliases, constraints and metadata",
      { payload, aliases: ["b", "a"], constraints, metadata },
      "krephuDmvdWCK8OdwnygZJ",
    ],
  ] satisfies [string, Content, string][])(
    "stays what it is for %s, in every release [S-VER-4]",
    (_, content, version) => {
      expect(contentVersion(content)).toBe(version);
    },
  );

  it("is the hash of the message that an independent encoder writes [S-VER-4]", () => {
    const content = fc.record({
      payload: fc.record({
        typeUrl: fc.string({ unit: character }),
        value: fc.uint8Array({ maxLength: 300 }),
      }),
      aliases: fc.array(fc.string({ unit: character }), { maxLength: 3 }),
      constraints: fc.option(fc.constant(constraints), { nil: undefined }),
      metadata: fc.option(fc.constant(metadata), { nil: undefined }),
    });
    fc.assert(
      fc.property(content, ({ constraints: c, metadata: m, ...rest }) => {
        const one = {
          ...rest,
          ...(c === undefined ? {} : { constraints: c }),
          ...(m === undefined ? {} : { metadata: m }),
        };
        const isEmptyAny = one.payload.typeUrl === "";
        fc.pre(!isEmptyAny);
        expect(contentVersion(one)).toBe(expected(one));
      }),
      { numRuns: Math.ceil(100_000 * scale) },
    );
  });

  it("differs where any part of the content does [S-VER-4]", () => {
    const all = { payload, aliases: ["a"], constraints, metadata };
    const variants: readonly Content[] = [
      all,
      { ...all, payload: { ...payload, typeUrl: "type.googleapis.com/t.U" } },
      { ...all, payload: { ...payload, value: Uint8Array.of(1, 2, 4) } },
      { ...all, aliases: ["b"] },
      { payload, aliases: ["a"], metadata },
      { payload, aliases: ["a"], constraints },
    ];
    expect(new Set(variants.map(contentVersion)).size).toBe(variants.length);
  });

  it("hashes a content larger than its scratch memory, and the next small one as before [S-VER-4]", () => {
    const before = contentVersion({ payload });
    const large = { payload: { ...payload, value: new Uint8Array(3_000_000).fill(5) } };
    expect(contentVersion(large)).toBe(expected(large));
    const middle = { payload: { ...payload, value: new Uint8Array(100_000).fill(6) } };
    expect(contentVersion(middle)).toBe(expected(middle));
    expect(contentVersion({ payload })).toBe(before);
  });
});

describe("resourceHash()", () => {
  // Computed by an independent implementation with integers of any size, written from the doc
  // comment.
  const golden: readonly (readonly [name: string, version: string, hash: number])[] = [
    ["", "", 300264024576004],
    ["a", "1", 451090229630336],
    ["xdstp://foo/t.T/ns/a", "v1", 565968862313349],
    ["häuser/🏠", "", 1596269709486921],
  ];

  it.each(golden)("is the same for %j and %j in every release [S-VER-2]", (name, version, hash) => {
    expect(resourceHash(name, version)).toBe(hash);
  });

  it("tells the end of the name from the start of the version", () => {
    expect(resourceHash("ab", "c")).not.toBe(resourceHash("a", "bc"));
  });

  it("is a whole number below 2^52, and spreads", () => {
    const hashes = Array.from({ length: 10_000 }, (_, index) => resourceHash(`name-${index}`, "1"));
    expect(new Set(hashes).size).toBe(10_000);
    expect(hashes.every((hash) => Number.isInteger(hash) && hash >= 0 && hash < 2 ** 52)).toBe(
      true,
    );
    const upperHalf = hashes.filter((hash) => hash >= 2 ** 51).length;
    expect(Math.abs(upperHalf - 5000)).toBeLessThan(300);
  });
});

describe("hashWith()", () => {
  it("adds and takes away without loss, across the modulus", () => {
    const top = 2 ** 52 - 1;
    expect(hashWith(top, 1)).toBe(0);
    expect(hashWithout(0, 1)).toBe(top);
    expect(hashWithout(hashWith(top, top), top)).toBe(top);
  });
});
