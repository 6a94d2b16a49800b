import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import {
  bitString,
  contextTag,
  derBoolean,
  derInteger,
  derTime,
  explicitTag,
  objectId,
  octetString,
  sequence,
  setOf,
  utf8String,
} from "./der.ts";

/** What a certificate of a {@link TestAuthority} says. */
export interface TestCertificateOptions {
  /** The common name of the subject. Default: `test`. */
  readonly name?: string;
  /** URI names, a SPIFFE id for example. Default: none. */
  readonly uris?: readonly string[];
  /** DNS names. Default: none; a certificate of a server wants `localhost`. */
  readonly dnsNames?: readonly string[];
  /** IPv4 addresses. Default: none. */
  readonly addresses?: readonly string[];
  /** Default: an hour ago. */
  readonly notBefore?: Date;
  /** Default: in a day. */
  readonly notAfter?: Date;
}

/** A certificate and its key, both PEM. */
export interface TestCertificate {
  /** The certificate. */
  readonly cert: string;
  /** Its private key. */
  readonly key: string;
}

/** Signs certificates for one test. Do not trust it elsewhere. */
export interface TestAuthority {
  /** Its own certificate, PEM: what peers trust. */
  readonly cert: string;
  /** Makes a key and signs a certificate for it. The bytes of a name go in as they are, so that a test can make invalid ones. */
  issue(options?: TestCertificateOptions): TestCertificate;
}

const ecdsaWithSha256 = sequence(objectId(1, 2, 840, 10045, 4, 3, 2));
const commonName = objectId(2, 5, 4, 3);

/** An authority with a new P-256 key, valid for a day; without files and without another program. */
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
