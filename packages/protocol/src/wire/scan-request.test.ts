import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { createRandom, scaled, seed } from "../../test/random.ts";
import { randomMessage } from "../../test/random-requests.ts";
import { concatBytes, decodeText, lengthDelimited } from "@xdstp/core/wire";
import type { VariantName } from "./request-fields.ts";
import { scanRequest } from "./scan-request.ts";

const TYPE = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const join = (...fields: readonly (readonly [number, string])[]): Uint8Array =>
  concatBytes(fields.map(([field, value]) => lengthDelimited(field, value)));
const isPlain = (message: Uint8Array, variant: VariantName): boolean =>
  scanRequest(message, variant).plain;

describe("scanRequest()", () => {
  it("reads type and nonce of a delta ACK", () => {
    const message = join([2, TYPE], [6, "123456789012345"]);
    const scan = scanRequest(message, "delta");
    expect(scan).toMatchObject({ plain: true, nonce: 123456789012345, namesStart: 0, namesEnd: 0 });
    expect(decodeText(message, scan.typeStart, scan.typeEnd)).toBe(TYPE);
  });

  it("reads type, nonce and the place of the names of a SotW ACK", () => {
    const names = join([3, "a"], [3, "b"]);
    const message = concatBytes([join([1, "v1"]), names, join([4, TYPE], [5, "7"])]);
    const scan = scanRequest(message, "sotw");
    expect(scan).toMatchObject({ plain: true, nonce: 7 });
    expect(message.subarray(scan.namesStart, scan.namesEnd)).toEqual(names);
    expect(decodeText(message, scan.typeStart, scan.typeEnd)).toBe(TYPE);
  });

  it("takes the fields in any order", () => {
    expect(scanRequest(join([6, "7"], [2, TYPE]), "delta")).toMatchObject({
      plain: true,
      nonce: 7,
    });
    expect(scanRequest(join([5, "7"], [4, TYPE], [3, "a"], [1, "v"]), "sotw")).toMatchObject({
      plain: true,
      nonce: 7,
    });
  });

  it("says -1 where there is no nonce, and 0 to 0 where there is no type", () => {
    expect(scanRequest(join([2, TYPE]), "delta")).toMatchObject({ plain: true, nonce: -1 });
    expect(scanRequest(join([2, TYPE], [6, ""]), "delta")).toMatchObject({
      plain: true,
      nonce: -1,
    });
    expect(scanRequest(new Uint8Array(), "sotw")).toMatchObject({
      plain: true,
      nonce: -1,
      typeStart: 0,
      typeEnd: 0,
    });
  });

  it("keeps nothing of the message before", () => {
    scanRequest(join([3, "a"], [4, TYPE], [5, "7"]), "sotw");
    expect(scanRequest(new Uint8Array(), "sotw")).toMatchObject({
      plain: true,
      nonce: -1,
      typeStart: 0,
      typeEnd: 0,
      namesStart: 0,
      namesEnd: 0,
    });
  });

  it("returns the same object each time", () => {
    expect(scanRequest(join([2, TYPE]), "delta")).toBe(scanRequest(join([4, TYPE]), "sotw"));
  });

  it.each<[string, VariantName, Uint8Array]>([
    ["a node", "sotw", join([2, ""], [4, TYPE])],
    ["a node", "delta", join([1, ""], [2, TYPE])],
    ["an error", "sotw", join([4, TYPE], [5, "1"], [6, ""])],
    ["an error", "delta", join([2, TYPE], [6, "1"], [7, ""])],
    ["a subscription", "delta", join([2, TYPE], [3, "a"])],
    ["an unsubscription", "delta", join([2, TYPE], [4, "a"])],
    ["initial versions", "delta", join([2, TYPE], [5, ""])],
    ["a locator", "sotw", join([4, TYPE], [7, ""])],
    ["an unknown field", "delta", join([2, TYPE], [15, ""])],
    ["an unknown field with a tag of two bytes", "delta", join([2, TYPE], [16, ""])],
    ["a field of number 0", "sotw", join([0, ""])],
    ["a field of number 0", "delta", join([0, ""])],
    ["a number instead of a string", "sotw", Uint8Array.of(0x20, 1)],
    ["a number instead of a string", "delta", Uint8Array.of(0x10, 1)],
    ["two types", "delta", join([2, TYPE], [2, TYPE])],
    ["two nonces", "sotw", join([5, "1"], [5, "1"])],
    ["two nonces, one of them empty", "sotw", join([5, ""], [5, "1"])],
    ["two versions", "sotw", join([1, "1"], [1, "1"])],
    ["names in two runs", "sotw", join([3, "a"], [4, TYPE], [3, "b"])],
    ["a nonce of 16 digits", "sotw", join([5, "1234567890123456"])],
    ["a nonce with a leading zero", "sotw", join([5, "07"])],
    ["a nonce with another character", "sotw", join([5, "1a"])],
    ["a nonce with the character after the digits", "delta", join([6, "1:"])],
    ["a nonce with a character before the digits", "delta", join([6, "/1"])],
    ["a name outside ASCII", "sotw", join([3, "\u00e4"])],
    ["a length in two bytes that fits into one", "sotw", Uint8Array.of(0x1a, 0x81, 0x00, 65)],
    ["a length in five bytes", "sotw", Uint8Array.of(0x1a, 0x80, 0x80, 0x80, 0x80, 0x01)],
    ["a length without end", "sotw", Uint8Array.of(0x1a, 0x80)],
    ["a tag alone", "sotw", Uint8Array.of(0x1a)],
    ["a value that is cut off", "sotw", Uint8Array.of(0x1a, 2, 65)],
  ])("leaves %s to the decoder (%s)", (_what, variant, message) => {
    expect(isPlain(message, variant)).toBe(false);
  });

  it("takes a nonce of 0, and a name whose length takes two bytes", () => {
    expect(scanRequest(join([5, "0"], [3, "x".repeat(128)]), "sotw")).toMatchObject({
      plain: true,
      nonce: 0,
    });
  });

  for (const variant of ["sotw", "delta"] as const) {
    it(`agrees with a full decode, and takes every ACK that is encoded as usual (${variant})`, () => {
      const random = createRandom(seed);
      const cases = scaled(500_000);
      let plain = 0;
      for (let i = 0; i < cases; i++) {
        const message = randomMessage(random, variant);
        const expected = variant === "sotw" ? describeSotw(message) : describeDelta(message);
        const scanned = describeScan(message, variant);
        const shown = `seed ${seed}, case ${i}: ${Buffer.from(message).toString("hex").slice(0, 400)}`;
        if (scanned !== undefined) expect(scanned, shown).toEqual(expected?.ack);
        if (expected?.usual === true) expect(scanned, shown).toBeDefined();
        plain += Number(scanned !== undefined);
      }
      expect(plain).toBeGreaterThan(cases / 10);
      expect(plain).toBeLessThan(cases * 0.9);
    });
  }
});

/** The content of a plain ACK. */
interface Ack {
  readonly typeUrl: string;
  readonly nonce: string;
  readonly names: readonly string[];
}

/**
 * The result of a full decode: an ACK if the message is nothing else, and whether it is encoded in
 * the usual form.
 */
interface Decoded {
  readonly ack?: Ack;
  readonly usual: boolean;
}

function describeScan(message: Uint8Array, variant: VariantName): Ack | undefined {
  const { plain, typeStart, typeEnd, nonce, namesStart, namesEnd } = scanRequest(message, variant);
  if (!plain) return undefined;
  const names = fromBinary(
    DiscoveryRequestSchema,
    message.subarray(namesStart, namesEnd),
  ).resourceNames;
  return {
    typeUrl: decodeText(message, typeStart, typeEnd),
    nonce: nonce < 0 ? "" : String(nonce),
    names,
  };
}

function describeSotw(message: Uint8Array): Decoded | undefined {
  const request = attempt(() => fromBinary(DiscoveryRequestSchema, message));
  if (request === undefined) return undefined;
  const { typeUrl, responseNonce: nonce, resourceNames: names, versionInfo } = request;
  const more =
    request.node ?? request.errorDetail ?? request.resourceLocators[0] ?? request.$unknown?.[0];
  return decoded(
    more === undefined ? { typeUrl, nonce, names } : undefined,
    versionInfo,
    sameAs(message, toBinary(DiscoveryRequestSchema, request)),
  );
}

function describeDelta(message: Uint8Array): Decoded | undefined {
  const request = attempt(() => fromBinary(DeltaDiscoveryRequestSchema, message));
  if (request === undefined) return undefined;
  const lists = [
    request.resourceNamesSubscribe,
    request.resourceNamesUnsubscribe,
    request.resourceLocatorsSubscribe,
    request.resourceLocatorsUnsubscribe,
    Object.keys(request.initialResourceVersions),
  ];
  const more = request.node ?? request.errorDetail ?? lists.flat()[0] ?? request.$unknown?.[0];
  const { typeUrl, responseNonce: nonce } = request;
  return decoded(
    more === undefined ? { typeUrl, nonce, names: [] } : undefined,
    "",
    sameAs(message, toBinary(DeltaDiscoveryRequestSchema, request)),
  );
}

function decoded(ack: Ack | undefined, version: string, canonical: boolean): Decoded {
  if (ack === undefined) return { usual: false };
  const ascii = Buffer.from([ack.typeUrl, version, ...ack.names].join("")).every(
    (byte) => byte < 0x80,
  );
  return { ack, usual: canonical && ascii && /^(0|[1-9][0-9]{0,14})?$/.test(ack.nonce) };
}

function attempt<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

function sameAs(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
