import { describe, expect, test } from "vitest";

import { isGrpcContentType, parseGrpcTimeout, speaksGrpc } from "./request-headers.ts";

describe("parseGrpcTimeout()", () => {
  test.for([
    ["1H", 3_600_000],
    ["2M", 120_000],
    ["3S", 3000],
    ["4m", 4],
    ["5000u", 5],
    ["6000000n", 6],
    ["0m", 0],
    ["00000001S", 1000],
    ["99999999n", 100],
    ["1u", 1],
    ["1n", 1],
    ["2562047H", 9_223_369_200_000],
    ["99999999H", 359_999_996_400_000],
  ] as const)("reads %s as %d ms", ([text, ms]) => {
    expect(parseGrpcTimeout(text)).toBe(ms);
  });

  test.for([
    "",
    "1",
    "H",
    "123456789S",
    "-1S",
    "+1S",
    "1.5S",
    "1s",
    "1h",
    " 1S",
    "1S ",
    "1S, 2S",
    "0x1S",
    "1SS",
    "١S",
  ])("rejects %j", (text) => {
    expect(parseGrpcTimeout(text)).toBeUndefined();
  });
});

describe("isGrpcContentType()", () => {
  test.for([
    "application/grpc",
    "application/grpc+proto",
    "Application/gRPC",
    "application/grpc; charset=utf-8",
    "application/grpc+proto;x=y",
  ])("takes %s", (type) => {
    expect(isGrpcContentType(type)).toBe(true);
  });

  test.for([
    undefined,
    "",
    "application/grpc-web",
    "application/grpc-web+proto",
    "application/grpc+json",
    "application/grpcx",
    "application/json",
    "text/plain",
    "xapplication/grpc",
  ])("rejects %s", (type) => {
    expect(isGrpcContentType(type)).toBe(false);
  });
});

describe("speaksGrpc()", () => {
  test("knows a client that reads trailers, whatever its codec", () => {
    expect(speaksGrpc("application/grpc+json")).toBe(true);
    expect(speaksGrpc("application/grpc-web+proto")).toBe(false);
    expect(speaksGrpc(undefined)).toBe(false);
  });
});
