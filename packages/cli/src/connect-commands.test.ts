import { describe, expect, it } from "vitest";
import { connectCommands } from "./connect-commands.ts";

describe("connectCommands()", () => {
  it.each([["127.0.0.1", "127.0.0.1:5"], ["0.0.0.0", "127.0.0.1:5"], ["::", "[::1]:5"], ["::1", "[::1]:5"], ["localhost", "localhost:5"]])("names for %s an address that can be connected to", (host, server) => {
    expect(connectCommands({ host, port: 5 })).toEqual({
      envoy: `xdstp bootstrap envoy --server ${server} > envoy.yaml && envoy -c envoy.yaml`,
      grpc: `xdstp bootstrap grpc --server ${server}`,
    });
  });
});
