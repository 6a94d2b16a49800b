import {
  createBackoff,
  type Interest,
  type ResourceFeed,
  type ResourceSink,
  type Status,
  StatusCode,
  type Timer,
} from "@xdstp/core";
import { lengthDelimited } from "@xdstp/core/wire";
import { createTokenBucket, type TokenBucket } from "../token-bucket.ts";
import { envelop } from "../wire/envelop.ts";
import type { ClientContext } from "./client-context.ts";
import type { ClientStatus } from "./client-status.ts";
import { createClientStream, type ClientStream } from "./client-stream.ts";
import { ClientType, type ClientTypeHost } from "./client-type.ts";
import { connectionError } from "./errors.ts";
import { createIdleTimer, type IdleTimer } from "./idle-timer.ts";
import { typeUrlIn } from "./read-fields.ts";
import type { ClientVariant } from "./variant.ts";

/** The client of one server in one variant: a feed for a cache, over one stream at a time. */
export interface ClientFeed extends ResourceFeed {
  /** Changes the subscriptions of a type. */
  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void;
  /** Reports that the node has changed: the next request carries it (C-NODE-4). */
  nodeChanged(): void;
  /** Returns the current state of the stream and of each type. */
  status(): ClientStatus;
  /** True if a response has come on the open stream, as in `status()`; cheap to read. */
  readonly responded: boolean;
}

/**
 * Creates the feed of a client. `run` never rejects: it reconnects until its signal aborts. It
 * opens a stream with the first subscription, and ends the stream when there has been none for
 * `idleMs` (C-STREAM-14).
 */
export function createClientFeed<Memory>(
  context: ClientContext,
  variant: ClientVariant<Memory>,
): ClientFeed {
  return new Feed(context, variant);
}

/**
 * The phase of a feed.
 *
 * ```text
 * new --run--> resting --subscribed--> connected --closed--> backing-off --time--> connected, or resting without subscriptions
 *              connected --idle--> resting
 *              connected --needs a new stream--> connected
 * any --abort--> ended
 * ```
 */
type Phase =
  /** `run` was not called yet: changes of subscriptions are kept. */
  | { readonly kind: "new"; readonly early: Parameters<ClientFeed["want"]>[] }
  /** There are no subscriptions. */
  | { readonly kind: "resting"; readonly sink: ResourceSink }
  | { readonly kind: "connected"; readonly sink: ResourceSink; readonly stream: ClientStream }
  | { readonly kind: "backing-off"; readonly sink: ResourceSink; readonly retry: Timer }
  | { readonly kind: "ended" };

type RunningPhase = Extract<Phase, { readonly sink: ResourceSink }>;

type Counts = { -readonly [Key in keyof ClientStatus["counts"]]: number };

class Feed<Memory> implements ClientFeed {
  readonly #context: ClientContext;
  readonly #variant: ClientVariant<Memory>;
  readonly #types = new Map<string, ClientType<Memory>>();
  readonly #backoff: ReturnType<typeof createBackoff>;
  readonly #bucket: TokenBucket | undefined;
  /** Runs while nothing is subscribed. */
  readonly #idle: IdleTimer;
  readonly #counts: Counts = {
    streams: 0,
    responses: 0,
    rejected: 0,
    validResources: 0,
    invalidResources: 0,
    ignored: 0,
    failures: 0,
  };
  /** The types that may have something to send. */
  readonly #due = new Set<ClientType<Memory>>();
  #phase: Phase = { kind: "new", early: [] };
  #scheduled = false;
  #rateTimer: Timer | undefined;
  #lastEnd: Status | undefined;
  /** True while the server is reported as unavailable. */
  #isOut = false;
  #controlPlane = "";

  constructor(context: ClientContext, variant: ClientVariant<Memory>) {
    this.#context = context;
    this.#variant = variant;
    this.#backoff = createBackoff(context.backoff, context.random);
    this.#idle = createIdleTimer(context.clock, context.idleMs, () => {
      this.#rest();
    });
    this.#bucket =
      context.rate === undefined
        ? undefined
        : createTokenBucket(context.clock, context.rate.burst, context.rate.perSecond);
  }

  async run(sink: ResourceSink, signal: AbortSignal): Promise<void> {
    const early = this.#phase.kind === "new" ? this.#phase.early : [];
    if (signal.aborted) {
      this.#end();
      return;
    }
    const over = new Promise<void>((resolve) => {
      signal.addEventListener(
        "abort",
        () => {
          this.#end();
          resolve();
        },
        { once: true },
      );
    });
    this.#phase = { kind: "resting", sink };
    for (const change of early) this.want(...change);
    await over;
  }

  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    const phase = this.#phase;
    if (phase.kind === "ended") return;
    if (phase.kind === "new") {
      phase.early.push([typeUrl, added, dropped]);
      return;
    }
    this.#typeOf(typeUrl, phase).want(added, dropped);
    if (this.#isSubscribed()) {
      this.#idle.stop();
      if (this.#phase.kind === "resting") this.#connect(this.#phase);
    } else if (this.#stream !== undefined) this.#idle.touch();
  }

  get responded(): boolean {
    return this.#stream?.responded ?? false;
  }

  nodeChanged(): void {
    if (this.#stream !== undefined) this.#stream.nodeDue = true;
  }

  status(): ClientStatus {
    const { name } = this.#variant;
    return {
      variant: name,
      connected: this.#stream?.reached ?? false,
      responded: this.responded,
      controlPlane: this.#controlPlane,
      types: [...this.#types.values()].map((type) => type.status()),
      counts: { ...this.#counts },
      ...(this.#lastEnd === undefined ? {} : { lastEnd: this.#lastEnd }),
    };
  }

  get #stream(): ClientStream | undefined {
    return this.#phase.kind === "connected" ? this.#phase.stream : undefined;
  }

  #typeOf(typeUrl: string, { sink }: RunningPhase): ClientType<Memory> {
    const known = this.#types.get(typeUrl);
    if (known !== undefined) return known;
    const isReached = (): boolean => this.#stream?.reached ?? false;
    const host: ClientTypeHost<Memory> = {
      context: this.#context,
      variant: this.#variant,
      sink,
      get isReached() {
        return isReached();
      },
      schedule: () => {
        this.#due.add(type);
        this.#schedule();
      },
      count: (what, by) => {
        this.#counts[what] += by;
      },
      waited: () => {
        if (this.#variant.silenceConfirms) this.#reportBack(sink);
      },
      whenIdle: (callback) => {
        const stream = this.#stream;
        if (stream?.out?.probe === undefined) callback(true);
        else
          stream.out.probe((isIdle) => {
            if (stream === this.#stream) callback(isIdle);
          });
      },
    };
    const type = new ClientType(host, typeUrl);
    this.#types.set(typeUrl, type);
    if (this.#stream !== undefined) type.beginStream();
    return type;
  }

  #isSubscribed(): boolean {
    return this.#types.values().some((type) => type.isSubscribed);
  }

  #connect({ sink }: RunningPhase): void {
    this.#counts.streams++;
    const stream = createClientStream({
      onMessage: (message) => {
        this.#respond(stream, sink, message);
      },
      onReached: () => {
        for (const type of this.#types.values()) type.startDeadlines();
      },
      onWritable: () => {
        this.#flush();
      },
      onClosed: (status) => {
        this.#onClosed(stream, status);
      },
    });
    this.#phase = { kind: "connected", sink, stream };
    this.#context.emit?.({ kind: "opened", attempt: this.#counts.streams });
    for (const type of this.#types.values()) type.beginStream();
    for (const type of this.#types.values()) this.#due.add(type);
    stream.open(this.#context.connect);
    this.#schedule();
  }

  /**
   * Ends the stream of a client without subscriptions. This is not a failure, so there is no wait
   * before the next stream (C-STREAM-14).
   */
  #rest(): void {
    const phase = this.#phase;
    if (phase.kind !== "connected") return;
    this.#leaveStream({ kind: "resting", sink: phase.sink }, undefined);
    this.#context.emit?.({ kind: "idle" });
    phase.stream.close({ code: StatusCode.OK, message: "all names are unsubscribed" });
  }

  /** Replaces the stream by a new one. This is not a failure, so there is no wait. */
  #connectAgain(phase: Extract<Phase, { readonly kind: "connected" }>): void {
    const { sink, stream } = phase;
    const status = { code: StatusCode.OK, message: "a subscription needs a new stream" };
    const resting = { kind: "resting", sink } as const;
    this.#leaveStream(resting, undefined);
    const { responded } = stream;
    this.#context.emit?.({ kind: "closed", status, responded, retryMs: 0 });
    this.#connect(resting);
    stream.close(status);
  }

  #leaveStream(next: Phase, status: Status | undefined): void {
    this.#idle.stop();
    this.#phase = next;
    this.#lastEnd = status;
    for (const type of this.#types.values()) type.endStream();
  }

  #respond(stream: ClientStream, sink: ResourceSink, message: Uint8Array): void {
    const typeUrl = typeUrlIn(message);
    if (typeUrl === undefined) {
      stream.close({
        code: StatusCode.INTERNAL,
        message: "the server has sent bytes that are not a discovery response",
      });
      return;
    }
    const type = this.#types.get(typeUrl);
    if (type?.isListening !== true) {
      this.#counts.ignored++;
      this.#context.emit?.({ kind: "ignored", typeUrl, names: 0 });
      stream.release();
      return;
    }
    this.#counts.responses++;
    if (!stream.responded) {
      // The server responds, so the backoff starts with its shortest wait again (C-RECON-1,
      // C-GRPC-4).
      stream.responded = true;
      this.#backoff.reset();
      this.#reportBack(sink);
    }
    const release = (): void => {
      stream.release();
    };
    type.respond(message, ({ controlPlane }, taken) => {
      this.#controlPlane = controlPlane;
      this.#due.add(type);
      this.#flush();
      if (taken === undefined) release();
      else void taken.then(release, release);
    });
  }

  /**
   * Reports the end of an outage: the server has responded, or a client that has all resources has
   * waited for as long as a response may take (C-RECON-3).
   */
  #reportBack(sink: ResourceSink): void {
    if (!this.#isOut) return;
    this.#isOut = false;
    sink.unavailable({}, undefined);
    for (const type of this.#types.values()) type.reportErrors();
  }

  #onClosed(stream: ClientStream, status: Status): void {
    const phase = this.#phase;
    if (phase.kind !== "connected" || phase.stream !== stream) return;
    const { sink } = phase;
    const { responded } = stream;
    const resting = { kind: "resting", sink } as const;
    const retryMs = this.#backoff.next();
    const retry = this.#context.clock.after(retryMs, () => {
      this.#phase = resting;
      if (this.#isSubscribed()) this.#connect(resting);
    });
    this.#leaveStream({ kind: "backing-off", sink, retry }, status);
    if (!responded) {
      this.#counts.failures++;
      this.#isOut = true;
      const { errorText } = this.#variant.parts;
      const message = errorText(status.message, this.#context.limits.errorText);
      sink.unavailable({}, connectionError({ ...status, message }));
    }
    this.#context.emit?.({ kind: "closed", status, responded, retryMs });
  }

  #end(): void {
    const phase = this.#phase;
    if (phase.kind === "ended") return;
    if (phase.kind === "backing-off") phase.retry.cancel();
    this.#rateTimer?.cancel();
    const status = {
      code: StatusCode.CANCELLED,
      message: "the client has no more use for the stream",
    };
    this.#leaveStream({ kind: "ended" }, phase.kind === "connected" ? status : this.#lastEnd);
    if (phase.kind === "connected") phase.stream.close(status);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#context.later(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  /**
   * Sends what is due, as far as the wire and the rate limit allow; the rest is sent when they do.
   */
  #flush(): void {
    if (this.#phase.kind === "connected" && this.#due.values().some((type) => type.needsNewStream))
      this.#connectAgain(this.#phase);
    const stream = this.#stream;
    if (stream?.out === undefined) return;
    for (const type of this.#due) {
      while (type.isDue && stream.writable && this.#mayRequest())
        this.#send(stream, type.nextRequest());
      if (!type.isDue) this.#due.delete(type);
    }
  }

  #send(stream: ClientStream, request: Uint8Array): void {
    const { nodeField } = this.#variant;
    const node = stream.nodeDue ? [lengthDelimited(nodeField, this.#context.node())] : [];
    stream.nodeDue = false;
    this.#bucket?.take(1);
    if (stream.out?.send(envelop([...node, request])) === false) stream.writable = false;
  }

  #mayRequest(): boolean {
    if (this.#bucket === undefined || this.#bucket.balance >= 1) return true;
    this.#rateTimer ??= this.#context.clock.after(this.#bucket.waitMs, () => {
      this.#rateTimer = undefined;
      this.#flush();
    });
    return false;
  }
}
