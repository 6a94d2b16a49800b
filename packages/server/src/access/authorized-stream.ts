import { StatusCode, type ByteStream, type Status } from "@xdstp/core";
import type { EndableHandler } from "../admitted-stream.ts";
import type { GuardedStream } from "../open-streams.ts";
import type { Access } from "./access-book.ts";
import { revoked, type AccessDecider, type Rejection } from "./access-decider.ts";
import type { ServerLimits } from "../server-limits.ts";
import type { Peer } from "./authorize.ts";
import { nodeClaim } from "../caller.ts";

/** Opens streams after the decision about what they may see. */
export interface AuthorizedHost {
  readonly decider: AccessDecider;
  readonly limits: ServerLimits["access"];
  /** Streams that are not opened yet. */
  readonly waiting: Set<EndableHandler>;
  /** Opens a stream. It then gets the messages that have waited. */
  open(access: Access, out: ByteStream): GuardedStream;
  /** Called when a stream is rejected. */
  rejected(rejection: Rejection): void;
  fault(where: string, error: unknown): void;
}

/** A call before its first message. */
export interface AuthorizedCall {
  readonly peer: Omit<Peer, "node">;
  readonly variant: "delta" | "sotw";
}

/**
 * Serves a stream from its first message on, after the decision about what it may see. Until then
 * the stream is not read.
 */
export function authorizeStream(
  host: AuthorizedHost,
  call: AuthorizedCall,
  out: ByteStream,
): EndableHandler {
  const stream = new Authorized(host, call, out);
  host.waiting.add(stream);
  return stream;
}

const noNode: Status = {
  code: StatusCode.INVALID_ARGUMENT,
  message: "the first message has no node",
};
const unreadable: Status = {
  code: StatusCode.INVALID_ARGUMENT,
  message: "the request cannot be decoded",
};
const tooMuch: Status = {
  code: StatusCode.RESOURCE_EXHAUSTED,
  message: "too many messages before it is decided what this client may see",
};
const broken: Status = { code: StatusCode.INTERNAL, message: "internal error" };

class Authorized implements EndableHandler {
  readonly #host: AuthorizedHost;
  readonly #call: AuthorizedCall;
  readonly #out: ByteStream;
  #served: GuardedStream | undefined;
  #access: Access | undefined;
  #unwatch: (() => void) | undefined;
  /** Present from the first message until the decision. */
  #asking: AbortController | undefined;
  #kept: Uint8Array[] = [];
  #bytes = 0;
  /** True if the client sends no more messages. */
  #ended = false;
  /** True if the stream was ended. */
  #over = false;

  constructor(host: AuthorizedHost, call: AuthorizedCall, out: ByteStream) {
    this.#host = host;
    this.#call = call;
    this.#out = out;
  }

  onMessage(message: Uint8Array): void {
    if (this.#served !== undefined) this.#served.onMessage(message);
    else if (!this.#over) this.#keep(message);
  }

  onDrained(): void {
    this.#served?.onDrained();
  }

  onEnd(): void {
    if (this.#served !== undefined) this.#served.onEnd?.();
    else if (this.#asking === undefined) this.end({ code: StatusCode.OK, message: "" });
    else this.#ended = true;
  }

  onClosed(status: Status): void {
    this.#stop();
    this.#unwatch?.();
    this.#access?.policy?.revoked?.removeEventListener("abort", this.#onRevoked);
    try {
      this.#served?.onClosed(status);
    } finally {
      this.#access?.release();
      this.#access = undefined;
    }
  }

  /**
   * The first message of a type may be large (S-SIZE-5). Whether a message after the first one of
   * the stream is such a message is known only when it is read.
   */
  admits(length: number, prefix: Uint8Array): boolean | undefined {
    if (this.#served !== undefined) return this.#served.admits?.(length, prefix) ?? false;
    return this.#asking === undefined ? true : undefined;
  }

  end(status: Status): void {
    this.#stop();
    if (this.#served === undefined) this.#out.close(status);
    else this.#served.end(status);
  }

  #keep(message: Uint8Array): void {
    const { waitingMessages, waitingBytes } = this.#host.limits;
    if (this.#asking === undefined) this.#ask(message);
    else this.#bytes += message.length;
    if (this.#over) return;
    if (this.#kept.length >= waitingMessages || this.#bytes > waitingBytes)
      this.#reject({ status: tooMuch, reason: tooMuch.message });
    else this.#kept.push(message.slice());
  }

  #ask(message: Uint8Array): void {
    const { peer, variant } = this.#call;
    try {
      const node = nodeClaim(message, variant);
      if (node === undefined) {
        this.#reject({ status: noNode, reason: noNode.message });
        return;
      }
      this.#asking = new AbortController();
      this.#out.pause?.();
      void this.#decide({ ...peer, node }, this.#asking.signal);
    } catch {
      this.#reject({ status: unreadable, reason: unreadable.message });
    }
  }

  async #decide(peer: Peer, signal: AbortSignal): Promise<void> {
    const answer = await this.#host.decider.decide(peer, signal);
    try {
      if ("status" in answer) {
        if (!this.#over) this.#reject(answer);
      } else if (this.#over) answer.release();
      else this.#begin(answer);
    } catch (error) {
      this.#host.fault("accept", error);
      this.end(broken);
    }
  }

  #begin(access: Access): void {
    this.#access = access;
    this.#host.waiting.delete(this);
    const served = this.#host.open(access, this.#out);
    this.#served = served;
    access.policy?.revoked?.addEventListener("abort", this.#onRevoked);
    this.#unwatch = access.onChange(() => {
      served.served.thaw();
    });
    const kept = this.#kept;
    this.#kept = [];
    for (const message of kept) served.onMessage(message);
    if (this.#ended) served.onEnd?.();
    this.#out.resume?.();
  }

  readonly #onRevoked = (): void => {
    this.end(revoked);
  };

  #reject(rejection: Rejection): void {
    this.#host.rejected(rejection);
    this.end(rejection.status);
  }

  #stop(): void {
    this.#over = true;
    this.#kept = [];
    this.#host.waiting.delete(this);
    this.#asking?.abort();
  }
}
