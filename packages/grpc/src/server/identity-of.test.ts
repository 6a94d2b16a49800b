import { X509Certificate } from "node:crypto";
import { createTestAuthority, type TestAuthority } from "@xdstp/testing";
import { describe, expect, test } from "vitest";
import { identityOf, principalOf } from "./identity-of.ts";

const authority = createTestAuthority();
const read = (options: Parameters<TestAuthority["issue"]>[0]): ReturnType<typeof identityOf> =>
  identityOf(new X509Certificate(authority.issue(options).cert));

describe("identityOf()", () => {
  test("reads names of every kind, in their order", () => {
    const uris = ["spiffe://td/ns/a/sa/b", "https://other.example/"];
    expect(
      read({ name: "api", uris, dnsNames: ["a.example", "b.example"], addresses: ["10.0.0.1"] }),
    ).toMatchObject({ uris, dnsNames: ["a.example", "b.example"], subject: "CN=api" });
    expect(read({ name: "api" })).toMatchObject({ uris: [], dnsNames: [], subject: "CN=api" });
    expect(read({}).fingerprint).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
  });

  test("takes a comma, a quote and a backslash in a name as part of it, never as the begin of another", () => {
    const uris = [
      "spiffe://td/a, URI:spiffe://td/admin",
      "spiffe://td/b,DNS:admin",
      'spiffe://td/"c\\',
      "spiffe://td/ok",
    ];
    expect(read({ uris: [uris[1] ?? "", uris[2] ?? "", uris[3] ?? ""] }).uris).toEqual([
      uris[1],
      uris[2],
      uris[3],
    ]);
    expect(read({ uris, dnsNames: ["x, DNS:admin"] })).toMatchObject({
      uris: [uris[1], uris[2], uris[3]],
      dnsNames: [],
    });
  });

  test.for([
    "spiffe://td/admin\0.evil.example",
    "spiffe://td/a\nb",
    "spiffe://td/a b",
    "spiffe://td/\xe4",
    "",
  ])("names nobody by %j (CVE-2026-47778: NUL in a SAN)", (uri) => {
    expect(read({ uris: [uri, "spiffe://td/ok"], dnsNames: [uri] })).toMatchObject({
      uris: ["spiffe://td/ok"],
      dnsNames: [],
    });
  });

  test.for(["garbage", "URI:a, ", 'URI:a, "', 'URI:"a', 'URI:"\\x", URI:b, ,'])(
    "names nobody from text of another form: %s",
    (subjectAltName) => {
      expect(identityOf({ subject: "CN=a", subjectAltName, fingerprint256: "00" })).toEqual({
        uris: [],
        dnsNames: [],
        subject: "CN=a",
        fingerprint: "00",
      });
    },
  );
});

describe("principalOf()", () => {
  test("is the names, the subject or the address, in this order", () => {
    const ignoreEnd = { uris: [], dnsNames: [], subject: "", fingerprint: "00" };
    expect(
      principalOf(
        { ...ignoreEnd, uris: ["spiffe://td/a"], dnsNames: ["b"], subject: "CN=c" },
        "10.0.0.1",
      ),
    ).toBe("spiffe://td/a b");
    expect(principalOf({ ...ignoreEnd, subject: "CN=c" }, "10.0.0.1")).toBe("CN=c");
    expect(principalOf(ignoreEnd, "10.0.0.1")).toBe("00");
    expect(principalOf(undefined, "10.0.0.1")).toBe("10.0.0.1");
  });
});
