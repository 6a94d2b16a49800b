import type { ByteStream, ByteStreamHandler } from "@xdstp/core";
import { createGrpcServer } from "@xdstp/grpc/server";
import { onTestFinished } from "vitest";

/** Starts a server that passes each request to `onMessage`. It is closed after the test. */
export async function createRawServer(
  onMessage: (out: ByteStream, message: Uint8Array) => void,
): Promise<{ readonly address: string }> {
  const server = createGrpcServer({
    isStreaming: () => true,
    accept: (_, out): ByteStreamHandler => ({
      onMessage: (message) => {
        onMessage(out, message);
      },
      onDrained: () => undefined,
      onClosed: () => undefined,
    }),
  });
  const { port } = await server.listen({ port: 0 });
  onTestFinished(async () => {
    await server.close({ graceMs: 1 });
  });
  return { address: `127.0.0.1:${port}` };
}
