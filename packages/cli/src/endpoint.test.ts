import { describe, expect, it } from "vitest";
import { createTestAuthority } from "@xdstp/testing";
import { CliError } from "./cli-error.ts";
import {
  clash,
  connectCommands,
  exposureWarning,
  formatEndpoint,
  parseEndpoint,
  parseListen,
  serverName,
} from "./endpoint.ts";

describe("parseEndpoint()", () => {
  it.each([
    ["127.0.0.1:18000", "127.0.0.1", 18_000],
    ["localhost:1", "localhost", 1],
    ["xds.example.com:65535", "xds.example.com", 65_535],
    ["[::1]:18000", "::1", 18_000],
    ["127.0.0.1:0", "127.0.0.1", 0],
  ])("reads %s, and back", (text, host, port) => {
    expect(parseEndpoint("--listen", text, 0)).toEqual({ host, port });
    expect(formatEndpoint({ host, port })).toBe(text);
  });

  it.each([
    "18000",
    ":18000",
    "localhost",
    "localhost:",
    "localhost:65536",
    "localhost:-1",
    "localhost:1e3",
    "::1:18000",
    "[127.0.0.1]:1",
    "[]:1",
    "a b:1",
    "http://a:1",
    "a:1\n",
    "",
  ])("rejects %j, and names the option and the way out", (text) => {
    expect(() => parseEndpoint("--listen", text, 0)).toThrow(CliError);
    expect(() => parseEndpoint("--listen", text, 0)).toThrow(
      `--listen ${JSON.stringify(text)}: give HOST:PORT with a port from 0 to 65535, for instance 127.0.0.1:18000`,
    );
  });

  it("rejects port 0 where nobody can choose another", () => {
    expect(() => parseEndpoint("--server", "127.0.0.1:0", 1)).toThrow("from 1 to 65535");
  });
});

describe("parseListen()", () => {
  it.each([
    ["18000", "127.0.0.1", 18_000],
    ["0", "127.0.0.1", 0],
    ["0.0.0.0:18000", "0.0.0.0", 18_000],
  ])("reads %s", (text, host, port) => {
    expect(parseListen("--listen", text)).toEqual({ host, port });
  });

  it.each(["65536", "-1", ":1"])("rejects %j", (text) => {
    expect(() => parseListen("--listen", text)).toThrow("give HOST:PORT");
  });
});

describe("clash()", () => {
  it.each([
    ["127.0.0.1:1", "127.0.0.1:1", true],
    ["127.0.0.1:1", "0.0.0.0:1", true],
    ["[::]:1", "[::1]:1", true],
    ["127.0.0.1:1", "127.0.0.1:2", false],
    ["127.0.0.1:1", "[::1]:1", false],
    ["127.0.0.1:0", "127.0.0.1:0", false],
  ])("%s and %s: %s", (one, other, expected) => {
    expect(clash(parseEndpoint("a", one, 0), parseEndpoint("b", other, 0))).toBe(expected);
  });
});

describe("connectCommands()", () => {
  it.each([
    ["127.0.0.1", "127.0.0.1:5"],
    ["0.0.0.0", "127.0.0.1:5"],
    ["::", "[::1]:5"],
    ["::1", "[::1]:5"],
    ["localhost", "localhost:5"],
  ])("names for %s an address that can be connected to", (host, server) => {
    expect(connectCommands({ host, port: 5 })).toEqual({
      envoy: `xdstp bootstrap envoy --server ${server} > envoy.yaml && envoy -c envoy.yaml`,
      grpc: `xdstp bootstrap grpc --server ${server}`,
    });
  });

  it("asks for the files of TLS, and for the name in the certificate", () => {
    expect(
      connectCommands({ host: "0.0.0.0", port: 5 }, { name: "xds.example.com", clients: false }),
    ).toEqual({
      envoy:
        "xdstp bootstrap envoy --server xds.example.com:5 --tls-ca CA.pem > envoy.yaml && envoy -c envoy.yaml",
      grpc: "xdstp bootstrap grpc --server xds.example.com:5 --tls-ca CA.pem",
    });
    expect(connectCommands({ host: "::1", port: 5 }, { name: "::1", clients: true }).grpc).toBe(
      "xdstp bootstrap grpc --server [::1]:5 --tls-ca CA.pem --tls-cert CLIENT.pem --tls-key CLIENT-KEY.pem",
    );
  });
});

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

describe("exposureWarning()", () => {
  it.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("has nothing to say of %s", (host) => {
    expect(exposureWarning(host, "none")).toBeUndefined();
  });

  it.each(["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example.com", "example.com", "::ffff:10.0.0.1"])(
    "warns of %s, but not where clients have to prove who they are",
    (host) => {
      expect(exposureWarning(host, "none")).toContain(
        `${host} may be reached from other machines, and there is no TLS and no login`,
      );
      expect(exposureWarning(host, "tls")).toContain(
        `${host} may be reached from other machines, and there is no login`,
      );
      expect(exposureWarning(host, "mtls")).toBeUndefined();
    },
  );
});
