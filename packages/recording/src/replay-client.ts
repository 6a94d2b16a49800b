import {
  type ByteStream,
  type Clock,
  type Message,
  type Status,
  StatusCode,
  systemClock,
} from "@xdstp/core";
import { clone, create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdstp/protos/discovery";

import {
  describeRequest,
  describeResponse,
  readRequest,
  readResponse,
  type ReadResource,
  type ReadResponse,
} from "./read-message.ts";
import type { OpenStream } from "./create-recorder.ts";
import { createHeldState, heldDifferences, type HeldState } from "./held-state.ts";
import { createLiveInbox, type LiveInbox } from "./live-inbox.ts";
import type { RecordedEvent, RecordedMessage, Recording, Variant } from "./recording.ts";

/**
 * Plays the client's side of a recording, stream after stream. It sends the recorded requests with
 * the nonces of the present server, and compares the state after each response with the recorded
 * state. Returns the number of differences.
 *
 * The server may send more responses than the recording has, as long as they lead to the same
 * state. The replay accepts these responses.
 */
export async function replayClient(options: {
  /** The recording whose requests are sent. */
  readonly recording: Recording;
  /** Opens a stream to the present server, with the method of the recording. */
  readonly open: OpenStream;
  /**
   * The time in milliseconds that the server has for each response of the recording. Default:
   * 5,000.
   */
  readonly answerMs?: number;
  /**
   * Returns true if a SotW response of the type contains the full state. Default: false for every
   * type.
   */
  readonly isFullState?: (typeUrl: string) => boolean;
  /** The clock that measures the waits. Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Aborting this signal ends the replay. */
  readonly signal?: AbortSignal;
  /** Called with each event. */
  readonly onEvent?: (event: ReplayClientEvent) => void;
}): Promise<number> {
  const streams = [...new Set(options.recording.events.map(({ stream }) => stream))];
  let differences = 0;
  for (const stream of streams) {
    if (options.signal?.aborted === true) break;
    differences += await new StreamReplay(options, stream).run();
  }
  return differences;
}

type ReplayClientOptions = Parameters<typeof replayClient>[0];

/**
 * An event while the client's side of a recording is played. `stream` is the number of the stream
 * in the recording.
 */
export type ReplayClientEvent = { readonly stream: number } & (
  | { readonly kind: "request" | "response"; readonly type: string; readonly text: string }
  /**
   * The present server has sent another state than the recorded one. Reported once for each name
   * and state.
   */
  | {
      readonly kind: "difference";
      readonly type: string;
      readonly difference: {
        /** The name of the resource. */
        readonly name: string;
        /** The resource in the recording. Absent if the recording has none. */
        readonly recorded?: ReadResource;
        /** The resource that the present server has sent. Absent if it has sent none. */
        readonly now?: ReadResource;
      };
    }
  /**
   * The stream ended with another status than in the recording. Undefined means that the stream did
   * not end.
   */
  | {
      readonly kind: "ended";
      readonly recorded: Status | undefined;
      readonly now: Status | undefined;
    }
);

interface PlayedType {
  readonly recorded: HeldState;
  readonly now: HeldState;
  /** The nonces of the present server, by the recorded nonces that they replace. */
  readonly nonces: Map<string, string>;
  /** The version of the last response, or empty if there was none. */
  version: string;
  /** The last request, as it was sent. */
  request: Uint8Array | undefined;
  /** The nonce of the response that is not answered yet, or empty if there is none. */
  unanswered: string;
  /**
   * The nonce of the last response that was accepted without a recorded answer, or empty if there
   * was none.
   */
  accepted: string;
  /** The differences that were reported. */
  readonly told: Set<string>;
}

/** Plays one recorded stream. */
class StreamReplay {
  readonly #options: ReplayClientOptions;
  readonly #stream: number;
  readonly #types = new Map<string, PlayedType>();
  readonly #inbox: LiveInbox;
  readonly #out: ByteStream;
  #differences = 0;

  constructor(options: ReplayClientOptions, stream: number) {
    this.#options = options;
    this.#stream = stream;
    this.#inbox = createLiveInbox(options.clock ?? systemClock, options.signal);
    this.#out = options.open(this.#inbox.handler);
  }

  /** Plays the stream. Returns the number of differences. */
  async run(): Promise<number> {
    const events = this.#options.recording.events.filter(({ stream }) => stream === this.#stream);
    for (const event of events) if (!(await this.#play(event))) break;
    this.#out.close({ code: StatusCode.OK, message: "" });
    return this.#differences;
  }

  /** Plays one event. Returns false if the stream is over. */
  async #play(event: RecordedEvent): Promise<boolean> {
    if (this.#options.signal?.aborted === true) return false;
    if (event.kind === "open") return true;
    if (event.kind === "end") return this.#end(event);
    if (event.kind === "request") this.#send(event);
    else await this.#expect(event);
    if (this.#inbox.closed === undefined || this.#inbox.length > 0) return true;
    const end = this.#options.recording.events.find(
      ({ kind, stream }) => kind === "end" && stream === this.#stream,
    );
    if (end?.kind === "end" && end.by === "server" && end.status.code === this.#inbox.closed.code)
      return true;
    this.#differences++;
    this.#tell({ kind: "ended", recorded: undefined, now: this.#inbox.closed });
    return false;
  }

  async #end({ by, status }: Extract<RecordedEvent, { kind: "end" }>): Promise<boolean> {
    if (by === "client") return false;
    const now = await this.#inbox.whenClosed(this.#options.answerMs ?? 5_000);
    if (now?.code === status.code) return false;
    this.#differences++;
    this.#tell({ kind: "ended", recorded: status, now });
    return false;
  }

  #send({ type: typeUrl, bytes }: RecordedMessage): void {
    const { variant } = this.#options.recording;
    const type = this.#type(typeUrl);
    const { nonce, names, dropped } = readRequest(variant, bytes);
    const live = nonce === "" ? "" : (type.nonces.get(nonce) ?? "");
    const isAnswered = live === "" || live === type.accepted;
    const before = type.request === undefined ? [] : readRequest(variant, type.request).names;
    const isNews =
      dropped.length > 0 ||
      (variant === "sotw" ? names.join("\n") !== before.join("\n") : names.length > 0);
    if (nonce !== "" && isAnswered && !isNews) return; // what it answers has not come, or is answered
    if (live === type.unanswered) type.unanswered = "";
    const request = withAnswer(variant, bytes, {
      nonce: live,
      version: live === "" ? "" : type.version,
    });
    this.#write(type, request);
  }

  #write(type: PlayedType, request: Uint8Array): void {
    type.request = request;
    this.#out.send(messageOf(request));
    this.#tell({ kind: "request", ...describeRequest(this.#options.recording.variant, request) });
  }

  async #expect({ type: typeUrl, nonce, bytes }: RecordedMessage): Promise<void> {
    const {
      recording: { variant },
      clock = systemClock,
      answerMs = 5_000,
    } = this.#options;
    const type = this.#type(typeUrl);
    type.recorded.apply(readResponse(variant, bytes));
    const until = clock.now() + answerMs;
    let isNew = type.unanswered !== "";
    while (!isNew || heldDifferences(type.recorded, type.now).length > 0) {
      if (isNew && !this.#wasRejected(typeUrl, nonce)) this.#accept(type);
      const response = await this.#inbox.next(until - clock.now());
      if (response === undefined) break;
      if (this.#take(response) === type) isNew = true;
    }
    if (type.unanswered !== "") type.nonces.set(nonce, type.unanswered);
    this.#compare(typeUrl, type);
  }

  /**
   * Takes a response into the state. Returns its type, or undefined if the bytes are not a
   * response.
   */
  #take(bytes: Uint8Array): PlayedType | undefined {
    const response = readOrNot(this.#options.recording.variant, bytes);
    if (response === undefined) return undefined;
    const type = this.#type(response.type);
    type.now.apply(response);
    type.version = response.version;
    type.unanswered = response.nonce;
    this.#tell({
      kind: "response",
      type: response.type,
      text: describeResponse(this.#options.recording.variant, bytes).text,
    });
    return type;
  }

  /**
   * Sends an ACK for a response that the recording does not answer. The server sends the next
   * response of the type only after that.
   */
  #accept(type: PlayedType): void {
    if (type.request === undefined || type.accepted === type.unanswered) return;
    type.accepted = type.unanswered;
    this.#write(
      type,
      ackAfter(this.#options.recording.variant, type.request, {
        nonce: type.unanswered,
        version: type.version,
      }),
    );
  }

  #wasRejected(typeUrl: string, nonce: string): boolean {
    const { events, variant } = this.#options.recording;
    return events.some((event) => {
      if (
        event.kind !== "request" ||
        event.stream !== this.#stream ||
        event.type !== typeUrl ||
        event.nonce !== nonce
      )
        return false;
      return readRequest(variant, event.bytes).error !== undefined;
    });
  }

  #compare(typeUrl: string, { recorded, now, told }: PlayedType): void {
    for (const difference of heldDifferences(recorded, now)) {
      const key = JSON.stringify([
        difference.name,
        ...[difference.recorded, difference.now].map(
          (one) => one && Buffer.from(one.payload).toString("base64"),
        ),
      ]);
      if (told.has(key)) continue;
      told.add(key);
      this.#differences++;
      this.#tell({ kind: "difference", type: typeUrl, difference });
    }
  }

  #type(typeUrl: string): PlayedType {
    const known = this.#types.get(typeUrl);
    if (known !== undefined) return known;
    const isFullState =
      this.#options.recording.variant === "sotw" && this.#options.isFullState?.(typeUrl) === true;
    const type: PlayedType = {
      recorded: createHeldState(isFullState),
      now: createHeldState(isFullState),
      nonces: new Map(),
      version: "",
      request: undefined,
      unanswered: "",
      accepted: "",
      told: new Set(),
    };
    this.#types.set(typeUrl, type);
    return type;
  }

  #tell(event: Untold<ReplayClientEvent>): void {
    this.#options.onEvent?.({ stream: this.#stream, ...event });
  }
}

type Untold<T> = T extends unknown ? Omit<T, "stream"> : never;

function readOrNot(variant: Recording["variant"], bytes: Uint8Array): ReadResponse | undefined {
  try {
    return readResponse(variant, bytes);
  } catch {
    return undefined;
  }
}

/** The number of bytes before the message in `Message.enveloped`. */
const ENVELOPE = 5;

/** Returns encoded bytes as a message of a byte stream. */
export function messageOf(bytes: Uint8Array): Message {
  const enveloped = new Uint8Array(ENVELOPE + bytes.length);
  new DataView(enveloped.buffer).setUint32(1, bytes.length);
  enveloped.set(bytes, ENVELOPE);
  return { enveloped, bytes: enveloped.subarray(ENVELOPE) };
}

/** The answer to a response, with the values of the present server. */
interface LiveAnswer {
  /** The nonce of the response, or empty if there is no response to answer. */
  readonly nonce: string;
  /** SotW: the version of the response that was accepted last. */
  readonly version: string;
}

/** Returns a recorded request with the nonce and the version of the present server. */
function withAnswer(
  variant: Variant,
  bytes: Uint8Array,
  { nonce, version }: LiveAnswer,
): Uint8Array {
  if (variant === "delta") {
    const request = fromBinary(DeltaDiscoveryRequestSchema, bytes);
    request.responseNonce = nonce;
    return toBinary(DeltaDiscoveryRequestSchema, request);
  }
  const request = fromBinary(DiscoveryRequestSchema, bytes);
  request.responseNonce = nonce;
  request.versionInfo = version;
  return toBinary(DiscoveryRequestSchema, request);
}

/** Returns an ACK with the same subscriptions as the request before it. */
function ackAfter(variant: Variant, before: Uint8Array, answer: LiveAnswer): Uint8Array {
  if (variant === "delta") {
    const { typeUrl } = fromBinary(DeltaDiscoveryRequestSchema, before);
    return toBinary(
      DeltaDiscoveryRequestSchema,
      create(DeltaDiscoveryRequestSchema, { typeUrl, responseNonce: answer.nonce }),
    );
  }
  const request = clone(DiscoveryRequestSchema, fromBinary(DiscoveryRequestSchema, before));
  request.errorDetail = undefined;
  request.node = undefined;
  return withAnswer(variant, toBinary(DiscoveryRequestSchema, request), answer);
}
