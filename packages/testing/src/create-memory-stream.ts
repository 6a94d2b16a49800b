import {
  type ByteStream,
  type ByteStreamHandler,
  type Message,
  type Status,
  StatusCode,
} from "@xdstp/core";

/**
 * A call in memory, seen from the peer of the state machine. Each step is a call of the test, and
 * has completed when that call returns.
 */
export interface MemoryStream {
  /**
   * Passes a message to the state machine. Its bytes are overwritten afterwards, as by a wire that
   * reuses its buffers. Ignored once the call is over.
   */
  send(message: Uint8Array): void;
  /** Returns the oldest message that was not taken yet. `undefined`: there is none. */
  take(): Uint8Array | undefined;
  /** The number of messages that were not taken yet. */
  readonly unread: number;
  /**
   * Fills the wire: from now on `send` asks the state machine to wait. Messages that it sends
   * nevertheless arrive.
   */
  fill(): void;
  /** Empties the wire, and notifies the state machine if it was full. */
  drain(): void;
  /** True while the state machine has paused reading: sent messages wait until it resumes. */
  readonly paused: boolean;
  /**
   * Ends this side of the call. The state machine is notified after it has read the waiting
   * messages.
   */
  end(): void;
  /** Ends the whole call from this side. Default: CANCELLED. */
  cancel(status?: Status): void;
  /** The status with which the call ended. `undefined` while it is open. */
  readonly closed: Status | undefined;
}

interface Call {
  full: boolean;
  paused: boolean;
  /**
   * Messages that were sent while the machine had paused reading, and perhaps the end after them.
   */
  readonly waiting: (Uint8Array | "end")[];
  closed: Status | undefined;
  /** Absent until `serve` has returned. */
  handler?: ByteStreamHandler;
}

const OK: Status = { code: StatusCode.OK, message: "" };
const CANCELLED: Status = { code: StatusCode.CANCELLED, message: "cancelled by the peer" };

/**
 * Connects a state machine to a peer that a test plays. `serve` gets the byte stream to write to
 * and returns the handler, as with a wire.
 * It checks the contract of the machine: it throws for a message whose two forms differ.
 */
export function createMemoryStream(serve: (out: ByteStream) => ByteStreamHandler): MemoryStream {
  const messages: Uint8Array[] = [];
  const call: Call = { full: false, paused: false, waiting: [], closed: undefined };
  const close = (status: Status): void => {
    if (call.closed !== undefined) return;
    call.closed = status;
    call.handler?.onClosed(status);
  };
  const send = (message: Message): boolean => {
    if (call.closed !== undefined) return true;
    checkEnvelope(message);
    messages.push(message.bytes);
    return !call.full;
  };
  const give = (what: Uint8Array | "end"): void => {
    if (what !== "end") lend(what, handler);
    else if (handler.onEnd === undefined) close(OK);
    else handler.onEnd();
  };
  const accept = (what: Uint8Array | "end"): void => {
    if (call.closed !== undefined) return;
    if (call.paused) call.waiting.push(what === "end" ? what : Uint8Array.from(what));
    else give(what);
  };
  const pause = (): void => {
    call.paused = true;
  };
  const resume = (): void => {
    call.paused = false;
    while (!isHalted(call)) {
      const next = call.waiting.shift();
      if (next === undefined) return;
      give(next);
    }
  };
  const handler = serve({ send, close, pause, resume });
  call.handler = handler;
  if (call.closed !== undefined) handler.onClosed(call.closed);

  return {
    send(message) {
      accept(message);
    },
    get paused() {
      return call.paused;
    },
    take: () => messages.shift(),
    get unread() {
      return messages.length;
    },
    fill() {
      call.full = true;
    },
    drain() {
      const wasFull = call.full;
      call.full = false;
      if (wasFull && call.closed === undefined) handler.onDrained();
    },
    end() {
      accept("end");
    },
    cancel(status = CANCELLED) {
      close(status);
    },
    get closed() {
      return call.closed;
    },
  };
}

function isHalted({ paused, closed }: Call): boolean {
  return paused || closed !== undefined;
}

/** Bytes before the message in `Message.enveloped`. */
const ENVELOPE = 5;

/**
 * Passes a message to a handler. Its bytes belong to the wire: they are overwritten afterwards, so
 * a handler that keeps them sees other bytes.
 */
export function lend(message: Uint8Array, handler: ByteStreamHandler): void {
  const bytes = new Uint8Array(message);
  handler.onMessage(bytes);
  bytes.fill(0xff);
}

/** Throws if the two forms of a message differ. */
export function checkEnvelope({ bytes, enveloped }: Message): void {
  const head = new DataView(
    enveloped.buffer,
    enveloped.byteOffset,
    Math.min(enveloped.length, ENVELOPE),
  );
  const fits =
    enveloped.length === ENVELOPE + bytes.length &&
    head.getUint8(0) === 0 &&
    head.getUint32(1) === bytes.length;
  if (!fits || Buffer.compare(enveloped.subarray(ENVELOPE), bytes) !== 0) {
    throw new Error("enveloped is not the message behind a zero byte and its length in four bytes");
  }
}
