import { type ByteStream, type ByteStreamHandler, type Status, StatusCode } from "@xdstp/core";

/** The part of a WebSocket that browsers, Node and `ws` have. */
export interface Socket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  binaryType: string;
  send(data: Uint8Array): void;
  close(code?: number, reason?: string): void;
  addEventListener(kind: "open" | "error", listener: () => void): void;
  addEventListener(kind: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(
    kind: "close",
    listener: (event: { code: number; reason: string }) => void,
  ): void;
}

const OPEN = 1;
/** Bytes that may wait in the socket before the sender is asked to wait. */
const fullBytes = 1 << 20;
/** A WebSocket has no event for this, so its buffer is looked at every few milliseconds. */
const drainMs = 5;
/** Close codes from 4000 on are free for programs: that of a status is 4000 and its number. */
const firstCode = 4_000;

/**
 * Carries one call over one WebSocket: each message is a binary frame. A WebSocket of a browser
 * cannot pause reading, so this stream has no `pause`.
 */
export function streamOver(socket: Socket, handler: ByteStreamHandler): ByteStream {
  const early: Uint8Array[] = [];
  let ended: Status | undefined;
  let draining: ReturnType<typeof setTimeout> | undefined;
  const drain = (): void => {
    draining = undefined;
    if (socket.bufferedAmount > 0) draining = setTimeout(drain, drainMs);
    else handler.onDrained();
  };
  socket.binaryType = "arraybuffer";
  socket.addEventListener("open", () => {
    for (const bytes of early.splice(0)) socket.send(bytes);
    if (ended === undefined) handler.onOpened?.();
    else closeWith(socket, ended);
  });
  socket.addEventListener("message", ({ data }) => {
    if (ended === undefined && data instanceof ArrayBuffer) handler.onMessage(new Uint8Array(data));
  });
  // `close` follows.
  socket.addEventListener("error", () => undefined);
  socket.addEventListener("close", ({ code, reason }) => {
    clearTimeout(draining);
    handler.onClosed(ended ?? statusOf(code, reason));
  });
  return {
    get opening() {
      return socket.readyState !== OPEN;
    },
    send({ bytes }) {
      if (ended !== undefined) return false;
      // The frame is written later, and the bytes may be part of a larger buffer.
      if (socket.readyState === OPEN) socket.send(bytes);
      else early.push(bytes.slice());
      if (socket.bufferedAmount < fullBytes) return true;
      draining ??= setTimeout(drain, drainMs);
      return false;
    },
    close(status) {
      if (ended !== undefined) return;
      ended = status;
      clearTimeout(draining);
      if (socket.readyState === OPEN) closeWith(socket, status);
    },
  };
}

/** Closes a socket with a status. The reason of a WebSocket has 123 bytes at most. */
export function closeWith(socket: Pick<Socket, "close">, { code, message }: Status): void {
  const bytes = new TextEncoder().encode(message).subarray(0, 120);
  socket.close(firstCode + code, new TextDecoder().decode(bytes).replace(/\uFFFD+$/, ""));
}

function statusOf(code: number, reason: string): Status {
  if (code >= firstCode && code <= firstCode + 16)
    return { code: code - firstCode, message: reason };
  return {
    code: StatusCode.UNAVAILABLE,
    message: `the WebSocket was closed with code ${code}${reason === "" ? "" : `: ${reason}`}`,
  };
}
