import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { serverName } from "./server-name.ts";

const authority = createTestAuthority();

describe("serverName()", () => {
  it.each([
    [["localhost"], "localhost", "localhost"],
    [["localhost", "xds.example.com"], "127.0.0.1", "localhost"],
    [["*.example.com", "xds.example.org"], "10.0.0.1", "xds.example.org"],
    [["*.example.com"], "xds.example.com", "xds.example.com"],
    [["*.example.com"], "10.0.0.1", "10.0.0.1"],
    [[], "::1", "::1"],
  ])(
    "finds in a certificate for %j what a client of %s has to ask for: %s",
    (dnsNames, host, name) => {
      expect(serverName(authority.issue({ dnsNames }).cert, host)).toBe(name);
    },
  );
});
