import {
  StatusCode,
  type ByteStream,
  type ByteStreamHandler,
  type Message,
  type Status,
} from "@xdstp/core";
import type { Admission, Newcomer } from "./admission.ts";

/** A handler whose call can also be ended by the server. */
export interface EndableHandler extends ByteStreamHandler {
  end(status: Status): void;
}

/**
 * Serves a stream from its first message on, once the admission lets it begin (S-RECON-9). An open
 * stream without a message costs nothing.
 * Its first sync is over with the first message that the client sends after a response. While the
 * stream waits it is not read.
 */
export function admitStream(
  admission: Admission,
  out: ByteStream,
  serve: (out: ByteStream) => EndableHandler,
): ByteStreamHandler {
  const stream = new Admitted(admission, out);
  stream.handler = serve(stream);
  return stream;
}

const crowded: Status = {
  code: StatusCode.RESOURCE_EXHAUSTED,
  message: "too many clients are beginning at once; try again later",
};
/** The maximum number of messages that are kept if a wire delivers them although it is paused. */
const mostKept = 16;

class Admitted implements ByteStreamHandler, ByteStream, Newcomer {
  handler: EndableHandler | undefined;
  readonly #admission: Admission;
  readonly #out: ByteStream;
  #state: "silent" | "waiting" | "syncing" | "answered" | "done" = "silent";
  #kept: Uint8Array[] = [];
  #ended = false;
  /** True if the stream itself has paused reading. */
  #paused = false;

  constructor(admission: Admission, out: ByteStream) {
    this.#admission = admission;
    this.#out = out;
  }

  send(message: Message): boolean {
    if (this.#state === "syncing") this.#state = "answered";
    return this.#out.send(message);
  }

  close(status: Status): void {
    this.#out.close(status);
  }
  pause(): void {
    this.#paused = true;
    this.#out.pause?.();
  }

  resume(): void {
    this.#paused = false;
    if (this.#state !== "waiting") this.#out.resume?.();
  }

  onMessage(message: Uint8Array): void {
    if (this.#state !== "done" && !this.#mayRead(message)) return;
    this.handler?.onMessage(message);
  }

  onDrained(): void {
    this.handler?.onDrained();
  }

  onEnd(): void {
    if (this.#state === "waiting") this.#ended = true;
    else this.#end();
  }

  onClosed(status: Status): void {
    this.#leave();
    this.handler?.onClosed(status);
  }

  admits(length: number, prefix: Uint8Array): boolean | undefined {
    return this.handler?.admits === undefined ? false : this.handler.admits(length, prefix);
  }

  admit(): void {
    this.#state = "syncing";
    const kept = this.#kept;
    this.#kept = [];
    for (const message of kept) this.onMessage(message);
    if (this.#ended) this.#end();
    if (!this.#paused) this.#out.resume?.();
  }

  reject(): void {
    this.#leave();
    this.handler?.end(crowded);
  }

  #mayRead(message: Uint8Array): boolean {
    if (this.#state === "silent") return this.#enter(message);
    if (this.#state === "waiting") this.#keep(message);
    if (this.#state === "answered") this.#leave();
    return this.#state !== "waiting";
  }

  #enter(message: Uint8Array): boolean {
    const answer = this.#admission.enter(this);
    this.#state = answer === "now" ? "syncing" : "waiting";
    if (answer === "never") {
      this.reject();
      return false;
    }
    if (answer === "later") {
      this.#out.pause?.();
      this.#keep(message);
    }
    return answer === "now";
  }

  #keep(message: Uint8Array): void {
    if (this.#kept.length < mostKept) this.#kept.push(Uint8Array.from(message));
    else this.reject();
  }

  #end(): void {
    if (this.handler?.onEnd === undefined) this.close({ code: StatusCode.OK, message: "" });
    else this.handler.onEnd();
  }

  #leave(): void {
    this.#state = "done";
    this.#kept = [];
    this.#admission.leave(this);
  }
}
