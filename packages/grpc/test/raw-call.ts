import { once } from "node:events";
import type { Socket } from "node:net";
import { enveloped } from "./raw-client.ts";
import { frame, headerBlock, preface, received, useSocket } from "./raw-socket.ts";
import { echoPath } from "./use-server.ts";

/**
 * Opens a connection on which the test writes the bytes itself, with a call on stream 1 that has
 * been echoed once. It does not answer pings by itself.
 */
export async function useRawCall(
  port: number,
): Promise<{ readonly socket: Socket; readonly closed: Promise<unknown> }> {
  const socket = await useSocket(port);
  const closed = once(socket, "close");
  socket.write(
    Buffer.concat([
      Buffer.from(preface),
      frame(4, 0, 0),
      frame(1, 4, 1, headerBlock(echoPath)),
      frame(0, 0, 1, enveloped("x")),
    ]),
  );
  await received(socket, enveloped("x"));
  return { socket, closed };
}
