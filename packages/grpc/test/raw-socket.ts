import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** The bytes that an HTTP/2 client sends first. */
export const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/** A TCP connection for one test, for bytes that no HTTP/2 client would send. */
export async function useSocket(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {
    /* a cut may look like one */
  });
  socket.resume();
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, "connect");
  return socket;
}

/** Returns an HTTP/2 frame. */
export function frame(
  type: number,
  flags: number,
  streamId: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** Returns a header block of literals: POST, http, a path, the authority `a`, gRPC. */
export function headerBlock(path: string): Buffer {
  return Buffer.from([
    0x83,
    0x86,
    0x04,
    path.length,
    ...Buffer.from(path),
    0x01,
    1,
    0x61,
    0x0f,
    0x10,
    16,
    ...Buffer.from("application/grpc"),
  ]);
}

/** Returns a literal header with this name and value. */
export function literalHeader(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0]),
    ...[name, value].flatMap((text) => [Buffer.from(lengthOf(text)), Buffer.from(text)]),
  ]);
}

/** Returns a header block on a stream, in as many frames as it needs. */
export function headerFrames(streamId: number, block: Buffer): Buffer {
  const parts = Array.from({ length: Math.ceil(block.length / mostFrame) }, (_, i) =>
    block.subarray(i * mostFrame, (i + 1) * mostFrame),
  );
  return Buffer.concat(
    parts.map((part, i) => frame(i === 0 ? 1 : 9, i === parts.length - 1 ? 4 : 0, streamId, part)),
  );
}

const mostFrame = 16_384;

/** Returns an HPACK integer with a prefix of 7 bits (RFC 7541 section 5.1). */
function lengthOf({ length }: string): readonly number[] {
  if (length < 127) return [length];
  const bytes = [127];
  let left = length - 127;
  for (; left >= 128; left >>= 7) bytes.push((left % 128) | 128);
  return [...bytes, left];
}

/** Resolves when these bytes have been received. */
export async function received(socket: Socket, bytes: Buffer | string): Promise<void> {
  let all = Buffer.alloc(0);
  while (!all.includes(bytes))
    all = Buffer.concat([all, ...((await once(socket, "data")) as Buffer[])]);
}
