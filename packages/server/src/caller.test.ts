import { describe, expect, it } from "vitest";

import { principalOf } from "./caller.ts";

describe("principalOf()", () => {
  it("names whom the certificate names, and else the address, whatever the port", () => {
    const identity = {
      uris: ["spiffe://td/a"],
      dnsNames: ["a.test"],
      subject: "CN=a",
      fingerprint: "AB",
    };
    expect(principalOf({ address: "192.0.2.1:5", identity })).toBe(
      principalOf({ address: "[2001:db8::1]:6", identity }),
    );
    expect(principalOf({ address: "192.0.2.1:5" })).toBe("192.0.2.1");
    expect(principalOf({ address: "[2001:db8::1]:6" })).toBe("[2001:db8::1]");
    expect(principalOf(undefined)).toBe("");
  });
});
