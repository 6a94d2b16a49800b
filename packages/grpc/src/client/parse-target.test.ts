import { describe, expect, test } from "vitest";
import { parseTarget } from "./parse-target.ts";

describe("parseTarget()", () => {
  test.each([
    ["localhost:18000", "localhost:18000", { host: "localhost", port: 18_000 }],
    ["xds.example", "xds.example:443", { host: "xds.example", port: 443 }],
    ["[::1]:80", "[::1]:80", { host: "::1", port: 80 }],
    ["[fe80::1%eth0]", "[fe80::1%eth0]:443", { host: "fe80::1%eth0", port: 443 }],
    ["dns:///xds.example:1", "xds.example:1", { host: "xds.example", port: 1 }],
    ["dns:xds.example:1", "xds.example:1", { host: "xds.example", port: 1 }],
    ["passthrough:///10.0.0.1:1", "10.0.0.1:1", { host: "10.0.0.1", port: 1 }],
    ["ipv4:10.0.0.1:1", "10.0.0.1:1", { host: "10.0.0.1", port: 1 }],
    ["ipv6:[::1]:1", "[::1]:1", { host: "::1", port: 1 }],
    ["unix:run/xds.sock", "localhost", { path: "run/xds.sock" }],
    ["unix:///run/xds.sock", "localhost", { path: "/run/xds.sock" }],
  ])("reads %s", (text, authority, address) => {
    expect(parseTarget(text)).toMatchObject({ text, authority, address });
  });

  test.each([
    ["", "is not HOST:PORT; an IPv6 address is in brackets"],
    ["::1:80", "is not HOST:PORT; an IPv6 address is in brackets"],
    ["a b:1", "is not HOST:PORT; an IPv6 address is in brackets"],
    ["host:0", "has no port from 1 to 65535"],
    ["host:65536", "has no port from 1 to 65535"],
    ["https://xds.example", "is a URL; give host:port, and TLS as an option"],
    ["xds:///svc", "has the scheme xds; this client knows dns and unix"],
    ["dns://8.8.8.8/xds.example", "names a DNS server of its own; write dns:///host:port"],
    ["unix:", "names no socket; write unix:PATH or unix:///PATH"],
  ])("rejects %j", (text, problem) => {
    expect(() => parseTarget(text)).toThrow(
      `[INVALID_ARGUMENT] the target ${JSON.stringify(text)} ${problem}`,
    );
  });
});
