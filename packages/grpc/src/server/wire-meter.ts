import type { ServerHttp2Session } from "node:http2";

/** Bytes of a PING frame, and of its ACK (RFC 9113 section 6.7). */
const pingBytes = 17;
/** Bytes of the ACK of a SETTINGS frame (RFC 9113 section 6.5). */
const settingsAckBytes = 9;

/**
 * Counts the bytes of a connection. A connection with moving bytes is alive: time limits check this
 * before they cut.
 */
export interface WireMeter {
  /**
   * Bytes of DATA and HEADERS written to the socket. Answers to PING and SETTINGS do not count,
   * since a peer alone can cause them.
   */
  readonly sentBytes: number;
  /** Bytes read from the socket, of any frames. */
  readonly receivedBytes: number;
  /** Called when a PING was received, or is sent: 17 bytes are written for it. */
  pinged(): void;
  /** Called when SETTINGS were received: their ACK is written. */
  settled(): void;
}

/** Creates the meter of one session. */
export function createWireMeter(session: ServerHttp2Session): WireMeter {
  return new SocketMeter(session);
}

class SocketMeter implements WireMeter {
  readonly #session: ServerHttp2Session;
  #controlBytes = 0;
  /**
   * The ACK of a PING is written after it was counted, so the difference may decrease for a moment.
   */
  #sentBytes = 0;
  #receivedBytes = 0;

  constructor(session: ServerHttp2Session) {
    this.#session = session;
  }

  get sentBytes(): number {
    if (!this.#session.destroyed)
      this.#sentBytes = Math.max(
        this.#sentBytes,
        this.#session.socket.bytesWritten - this.#controlBytes,
      );
    return this.#sentBytes;
  }

  get receivedBytes(): number {
    if (!this.#session.destroyed) this.#receivedBytes = this.#session.socket.bytesRead;
    return this.#receivedBytes;
  }

  pinged(): void {
    this.#controlBytes += pingBytes;
  }
  settled(): void {
    this.#controlBytes += settingsAckBytes;
  }
}
