import { StatusCode, systemClock, type ByteStream, type Message } from "@xdstp/core";
import { clone, create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdstp/protos/discovery";

import {
  describeRequest,
  describeResponse,
  readRequest,
  readResponse,
  type ReadResponse,
} from "./read-message.ts";
import {
  createHeldState,
  heldDifferences,
  type HeldState,
  type ReplayClientEvent,
  type ReplayClientOptions,
} from "./replay-client-options.ts";
import { createLiveInbox, type LiveInbox } from "./live-inbox.ts";
import type { RecordedEvent, RecordedMessage, Recording, Variant } from "./recording.ts";

/** Plays one recorded stream; the answer is how many differences there are. */
export async function replayStream(options: ReplayClientOptions, stream: number): Promise<number> {
  return new StreamReplay(options, stream).run();
}

interface PlayedType {
  readonly recorded: HeldState;
  readonly now: HeldState;
  /** Recorded nonces, and those of now in their place. */
  readonly nonces: Map<string, string>;
  /** Of the last response; empty: none. */
  version: string;
  /** The last request as it was sent. */
  request: Uint8Array | undefined;
  /** A response that is not answered yet; empty: none. */
  unanswered: string;
  /** The response that was accepted although the recording does not say so; empty: none. */
  accepted: string;
  /** Differences that were reported. */
  readonly told: Set<string>;
}

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

  async run(): Promise<number> {
    const events = this.#options.recording.events.filter(({ stream }) => stream === this.#stream);
    for (const event of events) if (!(await this.#play(event))) break;
    this.#out.close({ code: StatusCode.OK, message: "" });
    return this.#differences;
  }

  /** false: there is no more stream to play on. */
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

  /** A second response of a type comes only once the first is answered, so that one is accepted here. */
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

  /** A further response of a type comes only once the one before is answered. */
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

/** Number of bytes before the message in `Message.enveloped`. */
const ENVELOPE = 5;

/** Encoded bytes as a byte stream sends them. */
export function messageOf(bytes: Uint8Array): Message {
  const enveloped = new Uint8Array(ENVELOPE + bytes.length);
  new DataView(enveloped.buffer).setUint32(1, bytes.length);
  enveloped.set(bytes, ENVELOPE);
  return { enveloped, bytes: enveloped.subarray(ENVELOPE) };
}

/** The answer of a recorded request to a response, put for the server that runs now. */
interface LiveAnswer {
  /** Empty: there is nothing to answer. */
  readonly nonce: string;
  /** SotW: of the response that was accepted last. */
  readonly version: string;
}

/** A recorded request with the nonce and version of the server that it goes to. */
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

/** An ACK that changes no subscription: that of the request before. */
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
