import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type ByteStream,
  type ByteStreamHandler,
  type Clock,
  type Message,
  type Status,
  StatusCode,
} from "@xdstp/core";
import {
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  ResourceSchema,
  StatusSchema,
} from "@xdstp/protos/discovery";

/** A response of the server that the client has not answered yet. */
interface Offer {
  readonly version: string;
  readonly nonce: string;
}

/** The answer to one poll. */
export type PollAnswer =
  | {
      readonly kind: "response";
      /** The encoded `DiscoveryResponse`. */
      readonly bytes: Uint8Array;
      /** Called when the answer is on its way; the next poll is then an answer to it. */
      readonly delivered: () => void;
    }
  | { readonly kind: "unchanged" }
  | { readonly kind: "rejected"; readonly status: Status };

/**
 * The phase of the session: the poll that it expects next.
 *
 * ```
 *           response            poll with its version
 * settled ───────────► offered ──────────────────────► settled
 *                       ▲   │
 *              response │   │ poll with the older version, or with an error
 *                       │   ▼
 *                      rejected
 * ```
 *
 * A poll with any other version begins again with a new stream: the client or the server has
 * started again. So does a poll after a response that never left or that another client was sent,
 * after a change that no poll waited for, and after a rejection without an error that is some time
 * ago.
 */
type Phase =
  | { readonly kind: "settled"; readonly accepted: string }
  | {
      readonly kind: "offered";
      readonly accepted: string;
      readonly offer: Offer;
      readonly isDelivered: boolean;
    }
  | {
      readonly kind: "rejected";
      readonly accepted: string;
      readonly error: NonNullable<DiscoveryRequest["errorDetail"]>;
      /** The time from which on the state is sent again; `undefined`: not before a change. */
      readonly againAt: number | undefined;
    };

/** Options of {@link createPollSession}. */
export interface PollSessionOptions {
  readonly clock: Clock;
  /** Opens a SotW stream of the type, or returns the status that rejects it. */
  readonly open: (out: ByteStream) => ByteStreamHandler | Status;
  /** Milliseconds after which a state is sent again that the client rejected without an error. */
  readonly againMs: number;
}

/** The polls of one client for one type. */
export interface PollSession {
  /** True while a poll waits for its answer. */
  readonly isBusy: boolean;
  /** Returns true if a client of this session may have this version. */
  fits(version: string): boolean;
  /**
   * Answers one poll, at once if there is something new, and after `waitMs` milliseconds at the
   * latest. One poll at a time.
   */
  poll(request: DiscoveryRequest, waitMs: number, signal: AbortSignal): Promise<PollAnswer>;
  /** Ends the stream. A poll that waits gets its answer. */
  close(): void;
}

/**
 * Creates a session: the polls of one client for one type, as a SotW stream of the server.
 *
 * Each poll becomes a request of the stream. The version that the client reports is its ACK or its
 * NACK (S-REST-4), and the responses of the stream are the answers of the polls. So order, limits,
 * policies, status and client status are those of every other stream.
 */
export function createPollSession(options: PollSessionOptions): PollSession {
  return new Session(options);
}

const wrapperUrl = `type.googleapis.com/${ResourceSchema.typeName}`;
const done: Status = { code: StatusCode.OK, message: "" };
/** The pause before a state is sent again doubles with each rejection, up to 32 times. */
const MOST_DOUBLINGS = 5;

class Session implements PollSession {
  isBusy = false;
  readonly #options: PollSessionOptions;
  #phase: Phase = { kind: "settled", accepted: "" };
  #stream: SessionStream | undefined;
  #rejections = 0;
  #asked: DiscoveryRequest | undefined;
  #onChange: () => void = ignore;

  constructor(options: PollSessionOptions) {
    this.#options = options;
  }

  fits(version: string): boolean {
    const phase = this.#phase;
    return (
      version === phase.accepted || (phase.kind === "offered" && version === phase.offer.version)
    );
  }

  async poll(request: DiscoveryRequest, waitMs: number, signal: AbortSignal): Promise<PollAnswer> {
    this.isBusy = true;
    try {
      return await this.#answer(request, this.#options.clock.now() + waitMs, signal);
    } finally {
      this.isBusy = false;
    }
  }

  close(): void {
    this.#stream?.end();
    this.#onChange();
  }

  async #answer(
    request: DiscoveryRequest,
    until: number,
    signal: AbortSignal,
  ): Promise<PollAnswer> {
    let stream = this.#read(request);
    for (;;) {
      const offer = stream.take();
      if (offer !== undefined && this.#isInDoubt) {
        stream = this.#begin(request);
        continue;
      }
      if (offer !== undefined && this.#isKnown(stream, offer, request)) continue;
      if (offer !== undefined) return this.#offer(offer);
      if (stream.closed !== undefined) return { kind: "rejected", status: stream.closed };
      const left = until - this.#options.clock.now();
      if (left <= 0 || signal.aborted) return { kind: "unchanged" };
      await this.#change(left, signal);
    }
  }

  /** Passes what a poll says to the stream, and returns the stream that answers it. */
  #read(request: DiscoveryRequest): SessionStream {
    const stream = this.#stream;
    if (stream === undefined || stream.isUseless || !this.fits(request.versionInfo))
      return this.#begin(request);
    const phase = this.#phase;
    if (phase.kind === "offered") {
      if (!this.#isAnswer(request, phase)) return this.#begin(request);
      if (request.errorDetail === undefined && request.versionInfo === phase.offer.version)
        this.#accept(stream, request, phase.offer);
      else this.#reject(stream, request, phase);
    } else if (phase.kind === "rejected" && this.#isDue(phase.againAt)) return this.#begin(request);
    else if (this.#hasOtherNames(request)) {
      if (this.#isInDoubt) return this.#begin(request);
      const error = phase.kind === "rejected" ? { errorDetail: phase.error } : {};
      this.#say(stream, { ...request, ...error }, phase.accepted, stream.nonce);
    }
    return stream;
  }

  /**
   * Returns true if a poll answers the response that was sent last. It does not if that response
   * may not have arrived: after a version without an error, other names say so too, since a client
   * that wants them gives up the poll that waits.
   */
  #isAnswer(
    request: DiscoveryRequest,
    { accepted, offer, isDelivered }: Extract<Phase, { readonly kind: "offered" }>,
  ): boolean {
    const { responseNonce, versionInfo, errorDetail } = request;
    if (responseNonce !== "" && responseNonce !== offer.nonce) return false;
    if (errorDetail !== undefined) return isDelivered;
    if (versionInfo === offer.version) return isDelivered || versionInfo !== accepted;
    return isDelivered && (responseNonce !== "" || !this.#hasOtherNames(request));
  }

  /**
   * True after a rejection without an error. The client may not have got that response: what comes
   * next must be the whole state, not only what has changed since.
   */
  get #isInDoubt(): boolean {
    return this.#phase.kind === "rejected" && this.#phase.againAt !== undefined;
  }

  #isDue(time: number | undefined): boolean {
    return time !== undefined && this.#options.clock.now() >= time;
  }

  /** Begins with a new stream. It answers with the whole state. */
  #begin(request: DiscoveryRequest): SessionStream {
    this.#stream?.end();
    const hasRejected = this.#phase.kind === "rejected" || request.errorDetail !== undefined;
    this.#phase = { kind: "settled", accepted: request.versionInfo };
    const stream = new SessionStream(this, hasRejected);
    this.#stream = stream;
    stream.open(this.#options.open);
    // A server does not answer a wildcard with the current version (S-RECON-7).
    this.#say(stream, request, hasRejected ? "" : request.versionInfo, "");
    return stream;
  }

  #accept(stream: SessionStream, request: DiscoveryRequest, { version, nonce }: Offer): void {
    this.#rejections = 0;
    this.#phase = { kind: "settled", accepted: version };
    this.#say(stream, request, version, nonce);
  }

  /**
   * Envoy sends no error after a rejection, just the version that it had before. A client that has
   * not understood the answer does the same; so the state is sent again after a pause.
   */
  #reject(
    stream: SessionStream,
    request: DiscoveryRequest,
    { accepted, offer }: Extract<Phase, { readonly kind: "offered" }>,
  ): void {
    const pause = this.#options.againMs * 2 ** Math.min(this.#rejections, MOST_DOUBLINGS);
    this.#rejections += 1;
    const { errorDetail } = request;
    const error = errorDetail ?? unexplained(offer.version, accepted);
    const againAt = errorDetail === undefined ? this.#options.clock.now() + pause : undefined;
    this.#phase = { kind: "rejected", accepted, error, againAt };
    this.#say(stream, { ...request, errorDetail: error }, accepted, offer.nonce);
  }

  #say(stream: SessionStream, request: DiscoveryRequest, version: string, nonce: string): void {
    this.#asked = request;
    const { errorDetail, ...rest } = request;
    const message = create(DiscoveryRequestSchema, {
      ...rest,
      versionInfo: version,
      responseNonce: nonce,
      // The first request of a stream answers nothing.
      ...(errorDetail !== undefined && nonce !== "" && { errorDetail }),
    });
    stream.read(toBinary(DiscoveryRequestSchema, message));
  }

  #hasOtherNames({ resourceNames, resourceLocators }: DiscoveryRequest): boolean {
    const last = this.#asked;
    return (
      last === undefined ||
      !areEqual(last.resourceNames, resourceNames, (name) => name) ||
      !areEqual(last.resourceLocators, resourceLocators, locatorText)
    );
  }

  /**
   * Returns true if a response is the first one of its stream, and the client has just that state.
   * It is then accepted in the client's name, and not sent as if it were new (S-REST-3).
   * A state with a TTL is sent: a heartbeat that no poll waited for has begun this stream, and
   * without one the resource would expire at the client (C-TTL-4). So is the state after a
   * rejection: the client may have taken a part of the rejected response, and has its version from
   * before (S-REST-4).
   */
  #isKnown(
    stream: SessionStream,
    { version, nonce, bytes }: Offer & { readonly bytes: Uint8Array },
    request: DiscoveryRequest,
  ): boolean {
    const isFirst = stream.nonce === "";
    stream.nonce = nonce;
    if (!isFirst || stream.followsRejection || hasTtl(bytes)) return false;
    if (version === "" || version !== request.versionInfo) return false;
    this.#say(stream, { ...request, errorDetail: undefined }, version, nonce);
    return true;
  }

  #offer({ bytes, ...offer }: Offer & { readonly bytes: Uint8Array }): PollAnswer {
    const { accepted } = this.#phase;
    this.#phase = { kind: "offered", accepted, offer, isDelivered: false };
    return {
      kind: "response",
      bytes,
      delivered: () => {
        const phase = this.#phase;
        if (phase.kind === "offered" && phase.offer === offer)
          this.#phase = { ...phase, isDelivered: true };
      },
    };
  }

  onStreamChange(): void {
    this.#onChange();
  }

  /** Resolves when the stream has sent or ended, after `ms` milliseconds, or if the signal aborts. */
  async #change(ms: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = (): void => {
        this.#onChange = ignore;
        timer.cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = this.#options.clock.after(ms, end);
      signal.addEventListener("abort", end);
      this.#onChange = end;
    });
  }
}

/** The wire of a session: it keeps what the server sends until the poll that waits takes it. */
class SessionStream implements ByteStream {
  /** The nonce of the newest response that a poll has taken; empty before the first. */
  nonce = "";
  /** The status with which the server has ended the stream. */
  closed: Status | undefined;
  /** True if the client had rejected a response when the stream began. */
  readonly followsRejection: boolean;
  readonly #session: Session;
  #handler: ByteStreamHandler | undefined;
  #isOver = false;
  #isLate = false;
  readonly #kept: Uint8Array[] = [];

  constructor(session: Session, followsRejection: boolean) {
    this.#session = session;
    this.followsRejection = followsRejection;
  }

  /**
   * True if the next poll needs a new stream: this one has ended, or it sent something that no poll
   * waited for. That would be older than what there is now, and is not kept. The first response is:
   * a server that needs longer for it than a poll waits could never give it else.
   */
  get isUseless(): boolean {
    return this.#isOver || this.#isLate;
  }

  open(opener: PollSessionOptions["open"]): void {
    const handler = opener(this);
    if ("code" in handler) this.#over(handler);
    else this.#handler = handler;
  }

  read(message: Uint8Array): void {
    if (!this.#isOver) this.#handler?.onMessage(message);
  }

  send({ bytes }: Message): boolean {
    if (this.#session.isBusy || this.nonce === "") this.#kept.push(bytes);
    else this.#isLate = true;
    this.#session.onStreamChange();
    return true;
  }

  close(status: Status): void {
    if (this.#isOver) return;
    this.#over(status);
    const handler = this.#handler;
    queueMicrotask(() => {
      handler?.onClosed(status);
    });
  }

  take(): (Offer & { readonly bytes: Uint8Array }) | undefined {
    const bytes = this.#kept.shift();
    if (bytes === undefined) return undefined;
    const { versionInfo, nonce } = fromBinary(DiscoveryResponseSchema, bytes);
    return { bytes, version: versionInfo, nonce };
  }

  /** Ends the stream on the side of the client. */
  end(): void {
    if (this.#isOver) return;
    this.#over(done);
    this.#handler?.onClosed(done);
  }

  #over(status: Status): void {
    this.#isOver = true;
    this.closed = status;
    this.#session.onStreamChange();
  }
}

function hasTtl(response: Uint8Array): boolean {
  return fromBinary(DiscoveryResponseSchema, response).resources.some(
    ({ typeUrl, value }) =>
      typeUrl === wrapperUrl && fromBinary(ResourceSchema, value).ttl !== undefined,
  );
}

function unexplained(
  offered: string,
  accepted: string,
): NonNullable<DiscoveryRequest["errorDetail"]> {
  return create(StatusSchema, {
    code: StatusCode.INVALID_ARGUMENT,
    message: `the client has not accepted version ${JSON.stringify(offered)}: it polled again with version ${JSON.stringify(accepted)}, without an error`,
  });
}

function areEqual<T>(one: readonly T[], other: readonly T[], textOf: (item: T) => string): boolean {
  return (
    one.length === other.length &&
    one.every((item, index) => textOf(item) === textOf(other[index] ?? item))
  );
}

function locatorText({
  name,
  dynamicParameters,
}: DiscoveryRequest["resourceLocators"][number]): string {
  return JSON.stringify([name, Object.entries(dynamicParameters).sort()]);
}

function ignore(): void {
  // Nothing waits.
}
