import { describe, expect, test } from "vitest";
import { isGrpcContentType, speaksGrpc } from "./is-grpc-content-type.ts";

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
