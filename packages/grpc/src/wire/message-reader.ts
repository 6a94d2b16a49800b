import { StatusCode, type Status } from "@xdstp/core";

/** The reason why a stream of messages cannot continue. */
export type BadMessage = "malformed" | "compressed" | "too-large" | "partial-bytes";

/** Receives the messages of a reader, and decides what may be read. */
export interface MessageReaderHost {
  /** Called with one whole message: a view of the chunk, or a buffer of its own. */
  onMessage(message: Uint8Array): void;
  /**
   * Returns true if a message above the ordinary limit may be read. `undefined`: call again with
   * more of it.
   */
  admits(length: number, prefix: Uint8Array): boolean | undefined;
  /**
   * Called when an admitted message begins. false: another one is being read on this connection, so
   * the reader waits for {@link MessageReader.proceed}. `undefined`: too many wait.
   */
  takeTurn(): boolean | undefined;
  /** Called when the admitted message is complete, or was discarded. */
  leaveTurn(): void;
  /**
   * Reserves memory for an unfinished message; a negative number releases it. Returns false if none
   * is left.
   */
  reserve(bytes: number): boolean;
  /** Called when the stream cannot continue. The reader stops. */
  onBad(reason: BadMessage, status: Status): void;
}

/** The limits of {@link MessageReader}, in bytes. */
export interface MessageReaderLimits {
  readonly maxMessageBytes: number;
  readonly maxFirstMessageBytes: number;
}

/**
 * Splits a stream of bytes into gRPC messages. A message that is completely in one chunk is not
 * copied.
 */
export interface MessageReader {
  /** The number of messages so far. */
  readonly count: number;
  /** True while a message is incomplete. */
  readonly inside: boolean;
  /** True while an admitted message waits for its turn: pass no bytes until `proceed`. */
  readonly waiting: boolean;
  /**
   * Reads a chunk. Returns the number of bytes that were read: all of them, unless the reader
   * waits, is paused or has stopped.
   */
  push(chunk: Uint8Array): number;
  /** Called when it is the turn of the message. */
  proceed(): void;
  /** Passes on no further message: `push` reads nothing that would complete one, until `resume`. */
  pause(): void;
  resume(): void;
  /** Stops reading, and releases memory. */
  stop(): void;
}

const headBytes = 5;
const smallestBuffer = 16 * 1024;

/** Creates the reader of one stream. It checks the sizes of `limits` before it allocates memory. */
export function createMessageReader(
  limits: MessageReaderLimits,
  host: MessageReaderHost,
): MessageReader {
  return new Reader(limits, host);
}

class Reader implements MessageReader {
  readonly #limits: MessageReaderLimits;
  readonly #host: MessageReaderHost;
  count = 0;
  #state: "reading" | "undecided" | "waiting" | "admitted" | "stopped" = "reading";
  /** The first bytes of a prefix that arrived in pieces. */
  #head: Buffer | undefined;
  #headFilled = 0;
  /** The length of the message whose prefix was read, else -1. */
  #length = -1;
  #body: Buffer | undefined;
  #filled = 0;
  #paused = false;
  /**
   * The number of bytes at which an undecided message is checked again. It doubles, so that many
   * small chunks cause few checks.
   */
  #askAt = 0;

  constructor(limits: MessageReaderLimits, host: MessageReaderHost) {
    this.#limits = limits;
    this.#host = host;
  }

  get inside(): boolean {
    return this.#length >= 0 || this.#headFilled > 0;
  }
  get waiting(): boolean {
    return this.#state === "waiting";
  }

  push(chunk: Uint8Array): number {
    let at = 0;
    while (
      at < chunk.length &&
      this.#state !== "stopped" &&
      this.#state !== "waiting" &&
      !this.#paused
    ) {
      if (this.#length >= 0) at = this.#readBody(chunk, at);
      else
        at =
          this.#headFilled === 0 && chunk.length - at >= headBytes
            ? this.#readWhole(chunk, at)
            : this.#readHead(chunk, at);
    }
    return at;
  }

  proceed(): void {
    if (this.#state === "waiting") this.#state = "admitted";
  }

  pause(): void {
    this.#paused = true;
  }
  resume(): void {
    this.#paused = false;
  }

  stop(): void {
    if (this.#state === "stopped") return;
    const turn = this.#state === "admitted" || this.#state === "waiting";
    this.#drop();
    this.#state = "stopped";
    if (turn) this.#host.leaveTurn();
  }

  /** The common case: prefix and body are in one chunk. */
  #readWhole(chunk: Uint8Array, at: number): number {
    const length =
      (chunk[at + 1] ?? 0) * 0x100_0000 +
      (((chunk[at + 2] ?? 0) << 16) | ((chunk[at + 3] ?? 0) << 8) | (chunk[at + 4] ?? 0));
    const from = at + headBytes;
    if (chunk[at] !== 0 || from + length > chunk.length || length > this.#limits.maxMessageBytes) {
      this.#begin(chunk[at] ?? 0, length);
      return from;
    }
    this.count += 1;
    this.#host.onMessage(chunk.subarray(from, from + length));
    return from + length;
  }

  #readHead(chunk: Uint8Array, at: number): number {
    this.#head ??= Buffer.allocUnsafeSlow(headBytes);
    const taken = Math.min(headBytes - this.#headFilled, chunk.length - at);
    this.#head.set(chunk.subarray(at, at + taken), this.#headFilled);
    this.#headFilled += taken;
    if (this.#headFilled === headBytes) {
      this.#headFilled = 0;
      this.#begin(this.#head.readUInt8(0), this.#head.readUInt32BE(1));
      if (this.#length === 0) this.#finish(Buffer.alloc(0));
    }
    return at + taken;
  }

  /** Checks a prefix before memory is allocated for the body. */
  #begin(flag: number, length: number): void {
    if (flag === 1) {
      this.#bad(
        "compressed",
        StatusCode.UNIMPLEMENTED,
        "compressed messages are not supported; send grpc-encoding: identity",
      );
      return;
    }
    if (flag !== 0) {
      this.#bad(
        "malformed",
        StatusCode.INVALID_ARGUMENT,
        "the message does not begin with the five bytes of gRPC",
      );
      return;
    }
    if (length > this.#limits.maxMessageBytes && length > this.#limits.maxFirstMessageBytes) {
      this.#tooLarge();
      return;
    }
    this.#length = length;
    if (length <= this.#limits.maxMessageBytes) return;
    this.#state = "undecided";
    this.#askAt = 1;
    this.#ask();
  }

  #readBody(chunk: Uint8Array, at: number): number {
    const room = this.#state === "undecided" ? this.#limits.maxMessageBytes : this.#length;
    const taken = Math.min(room - this.#filled, chunk.length - at);
    const body = this.#bodyFor(this.#filled + taken);
    if (body === undefined) {
      this.#crowded();
      return at;
    }
    body.set(chunk.subarray(at, at + taken), this.#filled);
    this.#filled += taken;
    if (this.#filled === this.#length) this.#finish(body);
    else if (this.#state === "undecided" && this.#filled >= Math.min(this.#askAt, room))
      this.#ask();
    return at + taken;
  }

  #ask(): void {
    this.#askAt = Math.max(this.#askAt, this.#filled * 2);
    const answer = this.#host.admits(
      this.#length,
      this.#body?.subarray(0, this.#filled) ?? new Uint8Array(0),
    );
    if (this.#state !== "undecided") return;
    if (answer === true) this.#takeTurn();
    else if (answer === false || this.#filled >= this.#limits.maxMessageBytes) this.#tooLarge();
  }

  #takeTurn(): void {
    const turn = this.#host.takeTurn();
    if (turn === undefined) this.#crowded();
    else this.#state = turn ? "admitted" : "waiting";
  }

  /**
   * Returns the buffer of the message, with room for `needed` bytes. It grows with the received
   * bytes, so that a length alone costs no memory.
   */
  #bodyFor(needed: number): Buffer | undefined {
    const held = this.#body?.length ?? 0;
    if (this.#body !== undefined && needed <= held) return this.#body;
    const size = Math.min(this.#length, Math.max(needed, held * 2, smallestBuffer));
    if (!this.#host.reserve(size - held)) return undefined;
    const grown = Buffer.allocUnsafeSlow(size);
    if (this.#body !== undefined) grown.set(this.#body.subarray(0, this.#filled));
    this.#body = grown;
    return grown;
  }

  #finish(message: Buffer): void {
    const turn = this.#state === "admitted";
    this.#drop();
    this.#state = "reading";
    this.count += 1;
    if (turn) this.#host.leaveTurn();
    this.#host.onMessage(message);
  }

  #drop(): void {
    if (this.#body !== undefined) this.#host.reserve(-this.#body.length);
    this.#body = undefined;
    this.#head = undefined;
    this.#headFilled = 0;
    this.#length = -1;
    this.#filled = 0;
  }

  #tooLarge(): void {
    this.#bad(
      "too-large",
      StatusCode.RESOURCE_EXHAUSTED,
      "the message is larger than this server reads",
    );
  }

  #crowded(): void {
    this.#bad(
      "partial-bytes",
      StatusCode.RESOURCE_EXHAUSTED,
      "too many unfinished messages on this connection",
    );
  }

  #bad(reason: BadMessage, code: number, message: string): void {
    this.stop();
    this.#host.onBad(reason, { code, message });
  }
}
