import { describe, expect, it } from "vitest";
import { CliError } from "./cli-error.ts";
import { clash, formatEndpoint, parseEndpoint, parseListen } from "./parse-endpoint.ts";

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
