import { describe, expect, onTestFinished, test } from "vitest";
import { createGrpcChannel } from "../client/grpc-channel.ts";
import { createGrpcServer } from "../server/grpc-server.ts";

/** Makes this process report this version of Node until the test ends. */
function useNodeVersion(node: string): void {
  const { versions } = process;
  const pretend = (value: NodeJS.ProcessVersions): void => {
    Object.defineProperty(process, "versions", {
      value,
      configurable: true,
      enumerable: true,
      writable: false,
    });
  };
  pretend({ ...versions, node });
  onTestFinished(() => {
    pretend(versions);
  });
}

describe("on Node 20", () => {
  const rejection =
    "[FAILED_PRECONDITION] Node 22 or newer is needed, and this is Node 20.19.0; install a newer Node";

  test("createGrpcServer() is rejected in words", () => {
    useNodeVersion("20.19.0");
    expect(() =>
      createGrpcServer({ accept: () => ({ code: 12, message: "" }), isStreaming: () => true }),
    ).toThrow(rejection);
  });

  test("createGrpcChannel() is rejected in words", () => {
    useNodeVersion("20.19.0");
    expect(() => createGrpcChannel({ target: "localhost:1" })).toThrow(rejection);
  });
});
