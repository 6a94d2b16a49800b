import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { describe, expect, it } from "vitest";
import { createTestAuthority } from "./create-test-authority.ts";

describe("createTestAuthority()", () => {
  it("signs certificates that hold against it, and against no other", () => {
    const [authority, other] = [createTestAuthority(), createTestAuthority()];
    const { cert, key } = authority.issue({
      name: "api",
      uris: ["spiffe://td/api"],
      dnsNames: ["localhost"],
      addresses: ["127.0.0.1"],
    });
    const read = new X509Certificate(cert);
    expect(read.subject).toBe("CN=api");
    expect(read.subjectAltName).toBe("URI:spiffe://td/api, DNS:localhost, IP Address:127.0.0.1");
    expect(read.verify(new X509Certificate(authority.cert).publicKey)).toBe(true);
    expect(read.verify(new X509Certificate(other.cert).publicKey)).toBe(false);
    expect(new X509Certificate(authority.cert).ca).toBe(true);
    expect(() => createSecureContext({ cert, key })).not.toThrow();
    expect(() => createSecureContext({ cert, key: other.issue().key })).toThrow();
  });

  it("keeps to the times that it is given", () => {
    const notAfter = new Date("2001-02-03T04:05:06Z");
    expect(new X509Certificate(createTestAuthority().issue({ notAfter }).cert).validToDate).toEqual(
      notAfter,
    );
  });
});
