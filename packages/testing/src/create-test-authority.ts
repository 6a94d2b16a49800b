import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** A certificate and its key, both PEM. */
export interface TestCertificate {
  /** The certificate. */
  readonly cert: string;
  /** Its private key. */
  readonly key: string;
}

/** Signs certificates for one test. Do not trust it elsewhere. */
export interface TestAuthority {
  /** Its own certificate, PEM, which peers have to trust. */
  readonly cert: string;
  /**
   * Creates a key and signs a certificate for it. The bytes of a name are used unchanged, so that a
   * test can create invalid names.
   */
  issue(options?: {
    /** The common name of the subject. Default: `test`. */
    readonly name?: string;
    /** URI names, for example a SPIFFE id. Default: none. */
    readonly uris?: readonly string[];
    /** DNS names. Default: none. A certificate of a server needs `localhost`. */
    readonly dnsNames?: readonly string[];
    /** IPv4 addresses. Default: none. */
    readonly addresses?: readonly string[];
    /** Default: one hour ago. */
    readonly notBefore?: Date;
    /** Default: in one day. */
    readonly notAfter?: Date;
  }): TestCertificate;
}

/** The contents of a certificate. */
type TestCertificateOptions = NonNullable<Parameters<TestAuthority["issue"]>[0]>;

const ecdsaWithSha256 = sequence(objectId(1, 2, 840, 10045, 4, 3, 2));
const commonName = objectId(2, 5, 4, 3);

/**
 * Creates an authority with a new P-256 key, valid for one day, without files and other programs.
 */
export function createTestAuthority(name = "test authority"): TestAuthority {
  const keys = newKeys();
  const cert = certificate({
    subject: name,
    issuer: name,
    publicKey: keys.publicKey,
    signer: keys.privateKey,
    extensions: authorityExtensions,
  });
  return {
    cert,
    issue(options = {}) {
      const own = newKeys();
      const issued = certificate({
        subject: options.name ?? "test",
        issuer: name,
        publicKey: own.publicKey,
        signer: keys.privateKey,
        extensions: leafExtensions(options),
        ...options,
      });
      return {
        cert: issued,
        key: own.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      };
    },
  };
}

function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

interface Contents extends Pick<TestCertificateOptions, "notBefore" | "notAfter"> {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly extensions: readonly Buffer[];
}

const hour = 3_600_000;

function certificate({
  subject,
  issuer,
  publicKey,
  signer,
  extensions,
  notBefore,
  notAfter,
}: Contents): string {
  const now = Date.now();
  const body = sequence(
    explicitTag(0, derInteger(Buffer.of(2))),
    derInteger(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ecdsaWithSha256,
    nameOf(issuer),
    sequence(
      derTime(notBefore ?? new Date(now - hour)),
      derTime(notAfter ?? new Date(now + 24 * hour)),
    ),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    explicitTag(3, sequence(...extensions, keyIdentifier(publicKey))),
  );
  return pem(sequence(body, ecdsaWithSha256, bitString(sign("sha256", body, signer))));
}

function nameOf(name: string): Buffer {
  return sequence(setOf(sequence(commonName, utf8String(name))));
}

const authorityExtensions = [
  sequence(objectId(2, 5, 29, 19), derBoolean(true), octetString(sequence(derBoolean(true)))),
];

function leafExtensions({
  uris = [],
  dnsNames = [],
  addresses = [],
}: TestCertificateOptions): readonly Buffer[] {
  const names = [
    ...uris.map((uri) => contextTag(6, Buffer.from(uri, "latin1"))),
    ...dnsNames.map((name) => contextTag(2, Buffer.from(name, "latin1"))),
    ...addresses.map((address) => contextTag(7, Buffer.from(address.split(".").map(Number)))),
  ];
  return names.length === 0
    ? []
    : [sequence(objectId(2, 5, 29, 17), octetString(sequence(...names)))];
}

function keyIdentifier(publicKey: KeyObject): Buffer {
  const id = createHash("sha1")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest();
  return sequence(objectId(2, 5, 29, 14), octetString(octetString(id)));
}

function pem(der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

/**
 * Encodes the few forms of ASN.1 DER that a certificate needs (X.690). Each function returns one
 * encoded value.
 */
function encode(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag), lengthOf(body.length), body]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  const short = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
  return Buffer.concat([Buffer.of(0x80 | short.length), short]);
}

/** SEQUENCE. */
function sequence(...members: readonly Uint8Array[]): Buffer {
  return encode(0x30, ...members);
}
/** SET OF. Several members have to be in the order of their bytes. */
function setOf(...members: readonly Uint8Array[]): Buffer {
  return encode(0x31, ...members);
}
/** OCTET STRING. */
function octetString(bytes: Uint8Array): Buffer {
  return encode(0x04, bytes);
}
/** BIT STRING of whole bytes. */
function bitString(bytes: Uint8Array): Buffer {
  return encode(0x03, Buffer.of(0), bytes);
}
/** UTF8String. */
function utf8String(text: string): Buffer {
  return encode(0x0c, Buffer.from(text));
}
/** BOOLEAN. */
function derBoolean(value: boolean): Buffer {
  return encode(0x01, Buffer.of(value ? 0xff : 0));
}

/** A positive integer. Its highest bit must be 0. */
function derInteger(bytes: Uint8Array): Buffer {
  return encode(0x02, bytes);
}

/** GeneralizedTime, to the second. */
function derTime(date: Date): Buffer {
  return encode(0x18, Buffer.from(`${date.toISOString().replace(/\D/g, "").slice(0, 14)}Z`));
}

/** `[tag]` around a whole value. */
function explicitTag(tag: number, value: Uint8Array): Buffer {
  return encode(0xa0 | tag, value);
}

/** `[tag]` instead of the tag of a string. */
function contextTag(tag: number, bytes: Uint8Array): Buffer {
  return encode(0x80 | tag, bytes);
}

/** OBJECT IDENTIFIER, by its numbers. */
function objectId(first: number, second: number, ...rest: readonly number[]): Buffer {
  return encode(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): readonly number[] {
  const digits = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift(0x80 | (left & 0x7f));
  return digits;
}
