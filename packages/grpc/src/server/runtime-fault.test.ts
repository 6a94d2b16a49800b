import { expect, it, onTestFinished } from "vitest";

import { createGrpcServer } from "./grpc-server.ts";
import { runtimeFault } from "./runtime-fault.ts";

it("accepts Node, and refuses Deno with the reason and the way out", () => {
  expect(runtimeFault(process.versions)).toBeUndefined();
  expect(runtimeFault({ node: "26.3.0", deno: "2.9.6" })?.message).toBe(
    "[UNIMPLEMENTED] a server cannot run on Deno 2.9.6: its HTTP/2 aborts the process when a client leaves; run the server on Node",
  );
});

it("does not listen on Deno", async () => {
  const server = createGrpcServer({
    isStreaming: () => true,
    accept: () => ({ code: 12, message: "" }),
  });
  const real = process.versions;
  onTestFinished(async () => {
    Object.defineProperty(process, "versions", { value: real });
    await server.close();
  });
  Object.defineProperty(process, "versions", { value: { ...real, deno: "2.9.6" } });
  await expect(server.listen({ port: 0 })).rejects.toThrow("a server cannot run on Deno 2.9.6");
});
