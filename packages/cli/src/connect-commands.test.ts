import { describe, expect, it } from "vitest";
import { connectCommands } from "./connect-commands.ts";

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
