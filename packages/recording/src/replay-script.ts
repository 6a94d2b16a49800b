import { readRequest, type ReadRequest, type ReadResource, readResponse } from "./read-message.ts";
import type { RecordedEvent, RecordedMessage, Recording, Variant } from "./recording.ts";

/**
 * One step of a type: something that the client sends, or a response that the server sends once all
 * steps before it are done.
 */
type ScriptStep =
  | { readonly kind: "request"; readonly facts: readonly string[] }
  | { readonly kind: "response"; readonly message: RecordedMessage };

/** The steps of one type on one stream. */
export interface TypeScript {
  readonly steps: readonly ScriptStep[];
  /** All facts that the client sends. */
  readonly facts: ReadonlySet<string>;
  /**
   * The answer to each response, by nonce: undefined for an ACK, otherwise the error message of the
   * NACK.
   */
  readonly verdicts: ReadonlyMap<string, string | undefined>;
}

/** One recorded stream. */
export interface StreamScript {
  readonly stream: number;
  readonly types: ReadonlyMap<string, TypeScript>;
  /** The status with which the server ended the stream. Absent if the server did not end it. */
  readonly end?: Extract<RecordedEvent, { kind: "end" }>["status"];
}

/**
 * Returns the scripts of the streams of a recording, in order. It ignores messages that cannot be
 * read.
 */
export function scriptsOf({ variant, events }: Recording): readonly StreamScript[] {
  const streams = [...new Set(events.map(({ stream }) => stream))];
  return streams.map((stream) => {
    const own = events.filter((event) => event.stream === stream);
    const end = own.find((event) => event.kind === "end");
    const messages = own.filter((event) => "bytes" in event);
    const names = [...new Set(messages.map(({ type }) => type))].filter((type) => type !== "");
    const types = new Map(
      names.map((type) => [
        type,
        typeScript(
          variant,
          messages.filter((message) => message.type === type),
        ),
      ]),
    );
    return { stream, types, ...(end?.by === "server" && { end: end.status }) };
  });
}

function typeScript(
  variant: Recording["variant"],
  messages: readonly RecordedMessage[],
): TypeScript {
  const factsOf = createFactReader(variant);
  const verdicts = new Map<string, string | undefined>();
  const steps = messages.map((message): ScriptStep => {
    if (message.kind === "response") return { kind: "response", message };
    const request = readRequest(variant, message.bytes);
    if (request.nonce !== "") verdicts.set(request.nonce, request.error);
    return { kind: "request", facts: factsOf(request) };
  });
  return {
    steps,
    verdicts,
    facts: new Set(steps.flatMap((step) => (step.kind === "request" ? step.facts : []))),
  };
}

/**
 * Returns the resources of a response in a recording. Returns none if the bytes are not a response.
 */
export function payloadsOf(
  { variant }: Pick<Recording, "variant">,
  { bytes }: { readonly bytes: Uint8Array },
): readonly ReadResource[] {
  try {
    return readResponse(variant, bytes).resources;
  } catch {
    return [];
  }
}

/**
 * Returns the facts of a request of one type, each as a text: `+name` subscribes, `-name`
 * unsubscribes, `=nonce` answers a response.
 */
export type FactReader = (request: ReadRequest) => readonly string[];

/**
 * Creates a reader of the requests of one type on one stream. The requests must be read in order,
 * because the facts of a request depend on the requests before it.
 */
export function createFactReader(variant: Variant): FactReader {
  return variant === "delta" ? deltaReader() : sotwReader();
}

function deltaReader(): FactReader {
  let isFirst = true;
  return ({ names, dropped, nonce }) => {
    const wanted = isFirst && names.length === 0 && dropped.length === 0 ? ["*"] : names;
    isFirst = false;
    return [
      ...wanted.map((name) => `+${name}`),
      ...dropped.map((name) => `-${name}`),
      ...answered(nonce),
    ];
  };
}

/**
 * Creates a reader of SotW requests. Each request lists all subscriptions; the facts are the
 * differences from the request before.
 */
function sotwReader(): FactReader {
  let before: ReadonlySet<string> | undefined;
  return ({ names, nonce }) => {
    const known = before ?? new Set();
    const now = new Set(
      before === undefined && names.length === 0
        ? ["*"]
        : names.length === 0 && known.has("*")
          ? known
          : names,
    );
    before = now;
    return [
      ...[...now].filter((name) => !known.has(name)).map((name) => `+${name}`),
      ...[...known].filter((name) => !now.has(name)).map((name) => `-${name}`),
      ...answered(nonce),
    ];
  };
}

function answered(nonce: string): readonly string[] {
  return nonce === "" ? [] : [`=${nonce}`];
}
