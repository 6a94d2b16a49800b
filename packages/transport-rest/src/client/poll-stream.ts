import {
  create,
  fromBinary,
  fromJsonString,
  type Registry,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import {
  type ByteStream,
  type ByteStreamHandler,
  type Clock,
  type Message,
  type Status,
  StatusCode,
  type Timer,
  XdsError,
} from "@xdstp/core";
import {
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";

import type { FetchLike } from "./fetch-like.ts";
import type { PolledVersion } from "./polled-version.ts";

/** The options of a stream of polls; see `RestChannelOptions`. */
export interface PollStreamOptions {
  readonly url: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly refreshMs: number;
  readonly waitMs: number;
  readonly requestTimeoutMs: number;
  readonly answerBytes: number;
  readonly json: Registry | undefined;
  readonly fetch: FetchLike;
  readonly clock: Clock;
  readonly random: () => number;
  /** Outlives the stream, as the version of the client does (C-VER-6). */
  readonly version: PolledVersion;
  readonly onEnd: () => void;
}

/** A stream that its channel can end. */
export interface PollStream extends ByteStream {
  cancel(): void;
}

/**
 * The phase of the stream.
 *
 * ```
 * silent ──request──► polling ──answer──► resting ──time, or other names──► polling
 *                        └──failure──► over
 * ```
 */
type Phase =
  | { readonly kind: "silent" }
  | { readonly kind: "polling"; readonly asked: AbortController }
  /** After a 200, until the client has answered; then its answer is the next poll. */
  | { readonly kind: "answering" }
  | { readonly kind: "resting"; readonly timer: Timer }
  | { readonly kind: "over" };

/** Opens a SotW stream that polls (C-REST-6). */
export function openPollStream(handler: ByteStreamHandler, options: PollStreamOptions): PollStream {
  return new Polls(handler, options);
}

class Polls implements PollStream {
  opening = true;
  readonly #handler: ByteStreamHandler;
  readonly #options: PollStreamOptions;
  #phase: Phase = { kind: "silent" };
  /** The newest request of the client, with the node of its first one (S-REST-5). */
  #request: DiscoveryRequest = create(DiscoveryRequestSchema);

  constructor(handler: ByteStreamHandler, options: PollStreamOptions) {
    this.#handler = handler;
    this.#options = options;
  }

  send({ bytes }: Message): boolean {
    const phase = this.#phase;
    if (phase.kind === "over") return true;
    const { node } = this.#request;
    const request = fromBinary(DiscoveryRequestSchema, bytes);
    this.#request =
      request.node === undefined && node !== undefined ? { ...request, node } : request;
    this.#options.version.read(request, phase.kind === "answering");
    switch (phase.kind) {
      case "silent":
        this.#poll();
        break;
      case "answering":
        this.#rest(this.#options.waitMs > 0 ? 0 : this.#pause());
        break;
      case "resting":
        phase.timer.cancel();
        this.#poll();
        break;
      case "polling":
        phase.asked.abort();
        this.#poll();
        break;
    }
    return true;
  }

  close(status: Status): void {
    this.#end(status);
  }

  cancel(): void {
    this.#end({ code: StatusCode.CANCELLED, message: "the channel was closed" });
  }

  /** Up to twice the period, as Envoy does, so that clients do not poll at the same time. */
  #pause(): number {
    const { refreshMs, random } = this.#options;
    return refreshMs + Math.floor(random() * refreshMs);
  }

  #rest(ms: number): void {
    const timer = this.#options.clock.after(ms, () => {
      this.#poll();
    });
    this.#phase = { kind: "resting", timer };
  }

  #poll(): void {
    const asked = new AbortController();
    const phase: Phase = { kind: "polling", asked };
    this.#phase = phase;
    const { clock, waitMs, requestTimeoutMs } = this.#options;
    const began = clock.now();
    const late = clock.after(waitMs + requestTimeoutMs, () => {
      if (this.#phase === phase) this.#fail(`no answer within ${waitMs + requestTimeoutMs} ms`);
    });
    this.#ask(asked.signal).then(
      (answer) => {
        late.cancel();
        if (this.#phase !== phase) return;
        if ("code" in answer) this.#end(answer);
        else this.#answered(answer.response, clock.now() - began);
      },
      (error: unknown) => {
        late.cancel();
        if (this.#phase === phase) this.#fail(reasonOf(error));
      },
    );
  }

  #answered(response: Uint8Array | undefined, tookMs: number): void {
    this.opening = false;
    if (this.#phase.kind === "polling") this.#phase = { kind: "answering" };
    this.#opened();
    if (response !== undefined) {
      this.#handler.onMessage(response);
      return;
    }
    // A server that does not hold polls must not be polled without a pause.
    const { waitMs } = this.#options;
    if (this.#phase.kind === "answering")
      this.#rest(waitMs > 0 && tookMs >= waitMs / 2 ? 0 : this.#pause());
  }

  #isOpened = false;
  #opened(): void {
    if (this.#isOpened) return;
    this.#isOpened = true;
    this.#handler.onOpened?.();
  }

  async #ask(signal: AbortSignal): Promise<{ readonly response?: Uint8Array } | Status> {
    const { url, json, waitMs, metadata, fetch, answerBytes, version } = this.#options;
    const request = version.apply(this.#request);
    const mediaType = json === undefined ? "application/x-protobuf" : "application/json";
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        ...metadata,
        "content-type": mediaType,
        accept: mediaType,
        ...(waitMs > 0 && { prefer: `wait=${String(Math.ceil(waitMs / 1_000))}` }),
      },
      body: encode(request, json),
      signal,
      redirect: "error",
    });
    const body = await readAtMost(answer.body, answerBytes);
    if (answer.status === 304) return {};
    if (answer.status === 200) {
      const response = decode(body, answer.headers, json);
      checkType(response, request.typeUrl);
      return { response };
    }
    return statusOf(url, answer.status, body);
  }

  #fail(reason: string): void {
    this.#end({ code: StatusCode.UNAVAILABLE, message: `POST ${this.#options.url}: ${reason}` });
  }

  #end(status: Status): void {
    const phase = this.#phase;
    if (phase.kind === "over") return;
    this.#phase = { kind: "over" };
    if (phase.kind === "polling") phase.asked.abort();
    if (phase.kind === "resting") phase.timer.cancel();
    this.#options.onEnd();
    queueMicrotask(() => {
      this.#handler.onClosed(status);
    });
  }
}

function encode(request: DiscoveryRequest, json: Registry | undefined): Uint8Array {
  return json === undefined
    ? toBinary(DiscoveryRequestSchema, request)
    : new TextEncoder().encode(
        toJsonString(DiscoveryRequestSchema, request, { registry: json, useProtoFieldName: true }),
      );
}

function decode(
  body: Uint8Array,
  headers: { get(name: string): string | null },
  json: Registry | undefined,
): Uint8Array {
  const mediaType = headers.get("content-type") ?? "";
  if (!mediaType.includes("json")) return body;
  if (json === undefined)
    throw new XdsError(
      "INVALID_ARGUMENT",
      "the answer is JSON, for which the option json is needed",
    );
  const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
  return toBinary(
    DiscoveryResponseSchema,
    fromJsonString(DiscoveryResponseSchema, text, { registry: json, ignoreUnknownFields: true }),
  );
}

/** A client ignores an answer of another type, and no poll would follow it. */
function checkType(response: Uint8Array, asked: string): void {
  const { typeUrl } = fromBinary(DiscoveryResponseSchema, response);
  if (typeUrl === asked) return;
  throw new XdsError(
    "INVALID_ARGUMENT",
    `the answer has the type_url ${JSON.stringify(typeUrl)}, but ${asked} was requested`,
    { typeUrl, rule: "C-REST-7" },
  );
}

/** The codes of HTTP that say more than that the server cannot be used now. */
const codes: Readonly<Record<number, number>> = {
  400: StatusCode.INVALID_ARGUMENT,
  401: StatusCode.UNAUTHENTICATED,
  403: StatusCode.PERMISSION_DENIED,
  404: StatusCode.UNIMPLEMENTED,
  405: StatusCode.UNIMPLEMENTED,
  415: StatusCode.UNIMPLEMENTED,
  429: StatusCode.RESOURCE_EXHAUSTED,
  501: StatusCode.UNIMPLEMENTED,
};

function statusOf(url: string, code: number, body: Uint8Array): Status {
  const text = new TextDecoder().decode(body.subarray(0, 500));
  return {
    code: codes[code] ?? StatusCode.UNAVAILABLE,
    message: `POST ${url}: status ${String(code)}${text === "" ? "" : `: ${text}`}`,
  };
}

async function readAtMost(
  body: ReadableStream<Uint8Array> | null,
  atMost: number,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > atMost)
      throw new XdsError(
        "RESOURCE_EXHAUSTED",
        `the answer is larger than ${String(atMost)} bytes; the limit is answerBytes`,
      );
    parts.push(part);
  }
  const whole = new Uint8Array(size);
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}

function reasonOf(error: unknown): string {
  const { text, context } = XdsError.from(error);
  const { cause } = error instanceof Error ? error : context;
  return cause instanceof Error ? `${text}: ${cause.message}` : text;
}
