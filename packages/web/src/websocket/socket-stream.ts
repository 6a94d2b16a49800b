import { type ByteStream, type ByteStreamHandler, type Status, StatusCode } from "@xdstp/core";

/** The part of a `WebSocket` that the client uses. */
export interface SocketLike {
  /** 1 while the socket is open. */
  readonly readyState: number;
  /** Set to `arraybuffer`, the form in which frames arrive. */
  binaryType: string;
  /** Sends a binary frame. Called only while the socket is open. */
  send(data: Uint8Array<ArrayBuffer>): void;
  /** Closes the socket, also while it is being opened. */
  close(code: number, reason: string): void;
  /** Calls back when the socket is open. */
  addEventListener(kind: "open", listener: () => void): void;
  /** Calls back with each frame. */
  addEventListener(kind: "message", listener: (event: { readonly data: unknown }) => void): void;
  /** Calls back once, when the socket has ended or could not be opened. */
  addEventListener(
    kind: "close",
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
}

const OPEN = 1;
/** Close codes from 4000 on are free for programs: that of a status is 4000 and its number. */
const FIRST_CODE = 4_000;

/**
 * Carries one call over one WebSocket: each message is a binary frame, and the close code has the
 * status. A browser cannot pause reading, and the requests of a page are small, so this stream has
 * neither `pause` nor a full wire.
 */
export function streamOver(socket: SocketLike, handler: ByteStreamHandler): ByteStream {
  const early: Uint8Array<ArrayBuffer>[] = [];
  let ended: Status | undefined;
  const isOpen = (): boolean => socket.readyState === OPEN;
  socket.binaryType = "arraybuffer";
  socket.addEventListener("open", () => {
    for (const bytes of early) socket.send(bytes);
    handler.onOpened?.();
  });
  socket.addEventListener("message", ({ data }) => {
    if (ended === undefined && data instanceof ArrayBuffer) handler.onMessage(new Uint8Array(data));
  });
  // Follows each `error` too, which says less.
  socket.addEventListener("close", ({ code, reason }) => {
    handler.onClosed(ended ?? statusOf(code, reason));
  });
  return {
    get opening() {
      return !isOpen();
    },
    send({ bytes }) {
      if (ended !== undefined) return true;
      const own = new Uint8Array(bytes);
      if (isOpen()) socket.send(own);
      else early.push(own);
      return true;
    },
    close(status) {
      if (ended !== undefined) return;
      ended = status;
      // A reason has at most 123 bytes.
      socket.close(FIRST_CODE + status.code, status.message.slice(0, 40));
    },
  };
}

function statusOf(code: number, reason: string): Status {
  const status = code - FIRST_CODE;
  return status >= 0 && status <= StatusCode.UNAUTHENTICATED
    ? { code: status, message: reason }
    : {
        code: StatusCode.UNAVAILABLE,
        message: `the WebSocket was closed with code ${code}${reason === "" ? "" : `: ${reason}`}`,
      };
}
