import {
  type Backoff,
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
import type { ClientCounts, ClientStatus } from "./client-status.ts";
import { createClientStream, type ClientStream } from "./client-stream.ts";
import { createClientType, type ClientType } from "./client-type.ts";
import type { ClientTypeHost } from "./client-type-state.ts";
import { connectionError } from "./connection-error.ts";
import { createQuiet, type Quiet } from "./quiet.ts";
import type { ClientVariant } from "./variant.ts";

/** The client end of one variant towards one server: a feed for a cache, over one stream at a time. */
export interface ClientFeed extends ResourceFeed {
  /** Changes what is subscribed of a type. */
  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void;
  /** The node is another one than before: the next request carries it (C-NODE-4). */
  nodeChanged(): void;
  /** What is known of the stream and of each type now. */
  status(): ClientStatus;
  /** A response has come on the stream that is open, as its status says too; it costs nothing to ask. */
  readonly responded: boolean;
}

/** Runs until its signal aborts, however often the server goes: `run` never rejects. It opens a stream as soon as something is wanted, and ends it when nothing has been for `idleMs` (C-STREAM-14). */
export function createClientFeed(context: ClientContext, variant: ClientVariant): ClientFeed {
  return new Feed(context, variant);
}

type Counts = { -readonly [Key in keyof ClientCounts]: number };

class Feed implements ClientFeed {
  readonly #context: ClientContext;
  readonly #variant: ClientVariant;
  readonly #types = new Map<string, ClientType>();
  readonly #backoff: Backoff;
  readonly #bucket: TokenBucket | undefined;
  /** Begins when nothing is wanted any more. */
  readonly #idle: Quiet;
  readonly #counts: Counts = {
    streams: 0,
    responses: 0,
    rejected: 0,
    validResources: 0,
    invalidResources: 0,
    ignored: 0,
    failures: 0,
  };
  #sink: ResourceSink | undefined;
  #early: [typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]][] = [];
  #stream: ClientStream | undefined;
  /** Those that may have something to say. */
  readonly #due = new Set<ClientType>();
  #scheduled = false;
  #ended = false;
  #retry: Timer | undefined;
  #rateTimer: Timer | undefined;
  #lastEnd: Status | undefined;
  #unavailable = false;
  #controlPlane = "";

  constructor(context: ClientContext, variant: ClientVariant) {
    this.#context = context;
    this.#variant = variant;
    this.#backoff = createBackoff(context.backoff, context.random);
    this.#idle = createQuiet(context.clock, context.idleMs, () => {
      this.#leave();
    });
    this.#bucket =
      context.rate === undefined
        ? undefined
        : createTokenBucket(context.clock, context.rate.burst, context.rate.perSecond);
  }

  async run(sink: ResourceSink, signal: AbortSignal): Promise<void> {
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
    this.#sink = sink;
    const early = this.#early;
    this.#early = [];
    if (signal.aborted) {
      this.#end();
      return;
    }
    for (const news of early) this.want(...news);
    await over;
  }

  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    if (this.#ended) return;
    if (this.#sink === undefined) {
      this.#early.push([typeUrl, added, dropped]);
      return;
    }
    const type = this.#type(typeUrl, this.#sink);
    type.want(added, dropped);
    if (this.#isWanted()) this.#keep();
    else if (this.#stream !== undefined) this.#idle.touch();
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

  #type(typeUrl: string, sink: ResourceSink): ClientType {
    const known = this.#types.get(typeUrl);
    if (known !== undefined) return known;
    const host: ClientTypeHost = {
      context: this.#context,
      variant: this.#variant,
      sink,
      schedule: () => {
        this.#due.add(type);
        this.#schedule();
      },
      count: (what, by) => {
        this.#counts[what] += by;
      },
      waited: () => {
        if (this.#variant.silenceConfirms) this.#isThere();
      },
    };
    const type: ClientType = createClientType(host, typeUrl);
    this.#types.set(typeUrl, type);
    if (this.#stream !== undefined) type.begin();
    if (this.#stream?.reached === true) type.reached();
    return type;
  }

  #connect(): void {
    this.#counts.streams++;
    const stream = createClientStream({
      onMessage: (message) => {
        this.#respond(stream, message);
      },
      onReached: () => {
        for (const type of this.#types.values()) type.reached();
      },
      onWritable: () => {
        this.#flush();
      },
      onClosed: (status) => {
        this.#onClosed(stream, status);
      },
    });
    this.#stream = stream;
    this.#context.emit?.({ kind: "opened", attempt: this.#counts.streams });
    for (const type of this.#types.values()) type.begin();
    for (const type of this.#types.values()) this.#due.add(type);
    stream.open(this.#context.connect);
    this.#schedule();
  }

  #isWanted(): boolean {
    return this.#types.values().some((type) => type.wanted);
  }

  /** Something is wanted. */
  #keep(): void {
    this.#idle.stop();
    if (this.#stream === undefined && this.#retry === undefined) this.#connect();
  }

  /** Whoever wants nothing holds no server: no failure, and no wait before the next stream (C-STREAM-14). */
  #leave(): void {
    const stream = this.#stream;
    this.#noteEnd(undefined);
    this.#context.emit?.({ kind: "idle" });
    stream?.close({ code: StatusCode.OK, message: "nothing is wanted any more" });
  }

  /** No failure either, and no wait. */
  #beginAnew(): void {
    const stream = this.#stream;
    const status = { code: StatusCode.OK, message: "what is asked for needs a new stream" };
    this.#noteEnd(undefined);
    this.#context.emit?.({
      kind: "closed",
      status,
      responded: stream?.responded ?? false,
      retryMs: 0,
    });
    this.#connect();
    stream?.close(status);
  }

  #noteEnd(status: Status | undefined): void {
    this.#idle.stop();
    this.#stream = undefined;
    this.#lastEnd = status;
    for (const type of this.#types.values()) type.end();
  }

  #respond(stream: ClientStream, message: Buffer): void {
    const typeUrl = this.#variant.typeUrlOf(message);
    if (typeUrl === undefined) {
      stream.close({
        code: StatusCode.INTERNAL,
        message: "the server has sent bytes that are not a discovery response",
      });
      return;
    }
    const type = this.#types.get(typeUrl);
    if (type?.asked !== true) {
      this.#counts.ignored++;
      this.#context.emit?.({ kind: "ignored", typeUrl, names: 0 });
      stream.release();
      return;
    }
    this.#counts.responses++;
    if (!stream.responded) this.#onFirstResponse(stream);
    type.respond(message, ({ controlPlane }, taken) => {
      this.#controlPlane = controlPlane;
      this.#due.add(type);
      this.#flush();
      if (taken === undefined) stream.release();
      else
        void taken.then(
          () => {
            stream.release();
          },
          () => {
            stream.release();
          },
        );
    });
  }

  /** The sign of life: the server is there, and the next wait is a short one (C-RECON-1, C-GRPC-4). */
  #onFirstResponse(stream: ClientStream): void {
    stream.responded = true;
    this.#backoff.reset();
    this.#isThere();
  }

  /** It has answered, or has nothing to say to who holds all of it (C-RECON-3). */
  #isThere(): void {
    if (!this.#unavailable) return;
    this.#unavailable = false;
    this.#sink?.unavailable({}, undefined);
    for (const type of this.#types.values()) type.tellErrors();
  }

  #onClosed(stream: ClientStream, status: Status): void {
    if (stream !== this.#stream) return;
    this.#noteEnd(status);
    if (this.#ended) return;
    if (!stream.responded) this.#fail(status);
    const retryMs = this.#backoff.next();
    this.#context.emit?.({ kind: "closed", status, responded: stream.responded, retryMs });
    this.#retry = this.#context.clock.after(retryMs, () => {
      this.#retry = undefined;
      if (this.#isWanted()) this.#connect();
    });
  }

  #fail(status: Status): void {
    this.#counts.failures++;
    this.#unavailable = true;
    this.#sink?.unavailable({}, connectionError(status, this.#context.limits.errorText));
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#early = [];
    this.#retry?.cancel();
    this.#idle.stop();
    this.#rateTimer?.cancel();
    for (const type of this.#types.values()) type.end();
    this.#stream?.close({
      code: StatusCode.CANCELLED,
      message: "the client has no more use for the stream",
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#context.later(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  /** Says what is to be said, as long as the wire and the rate allow; the rest waits for them. */
  #flush(): void {
    if (this.#due.values().some((type) => type.anew)) this.#beginAnew();
    const stream = this.#stream;
    if (stream?.out === undefined) return;
    for (const type of this.#due) {
      while (type.due && stream.writable && this.#mayAsk()) this.#send(stream, type.request());
      if (!type.due) this.#due.delete(type);
    }
  }

  #send(stream: ClientStream, request: Uint8Array): void {
    const { nodeField } = this.#variant;
    const node = stream.nodeDue ? [lengthDelimited(nodeField, this.#context.node())] : [];
    stream.nodeDue = false;
    this.#bucket?.take(1);
    if (stream.out?.send(envelop([...node, request])) === false) stream.writable = false;
  }

  #mayAsk(): boolean {
    if (this.#bucket === undefined || this.#bucket.balance >= 1) return true;
    this.#rateTimer ??= this.#context.clock.after(this.#bucket.waitMs, () => {
      this.#rateTimer = undefined;
      this.#flush();
    });
    return false;
  }
}
