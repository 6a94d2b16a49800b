import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** What an HTTP/2 client sends first. */
export const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/** A TCP connection of one test, for bytes that no HTTP/2 client would send. */
export async function useSocket(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => { /* a cut may look like one */ });
  socket.resume();
  onTestFinished(() => { socket.destroy(); });
  await once(socket, "connect");
  return socket;
}

/** An HTTP/2 frame. */
export function frame(type: number, flags: number, streamId: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** A header block of literals: POST, http, a path, the authority `a`, gRPC. */
export function headerBlock(path: string): Buffer {
  return Buffer.from([0x83, 0x86, 0x04, path.length, ...Buffer.from(path), 0x01, 1, 0x61, 0x0f, 0x10, 16, ...Buffer.from("application/grpc")]);
}

/** Resolves when these bytes have come. */
export async function received(socket: Socket, bytes: Buffer | string): Promise<void> {
  let all = Buffer.alloc(0);
  while (!all.includes(bytes)) all = Buffer.concat([all, ...(await once(socket, "data") as Buffer[])]);
}
