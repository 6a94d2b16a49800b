import { readRequest, type ReadRequest, type ReadResource, readResponse } from "./read-message.ts";
import type { RecordedEvent, RecordedMessage, Recording, Variant } from "./recording.ts";

/** One step of a type: what the client sends, or what the server answers once everything before it was sent. */
type ScriptStep =
  | { readonly kind: "request"; readonly facts: readonly string[] }
  | { readonly kind: "response"; readonly message: RecordedMessage };

/** What one stream says of one type. */
export interface TypeScript {
  readonly steps: readonly ScriptStep[];
  /** All that the client says. */
  readonly facts: ReadonlySet<string>;
  /** How each response was answered: undefined with an ACK, else why not. */
  readonly verdicts: ReadonlyMap<string, string | undefined>;
}

/** One recorded stream. */
export interface StreamScript {
  readonly stream: number;
  readonly types: ReadonlyMap<string, TypeScript>;
  /** How the server ended it. Absent: it did not. */
  readonly end?: Extract<RecordedEvent, { kind: "end" }>["status"];
}

/** The streams of a recording in their order. Messages that cannot be read are left out. */
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

/** Everything that a response of a recording holds, for whoever looks for something in it. */
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

/** What a request of one type contains, each as a text: `+name` is subscribed, `-name` is unsubscribed, `=nonce` is answered. */
export type FactReader = (request: ReadRequest) => readonly string[];

/** Reads the requests of one type on one stream in their order: what one says depends on those before it. */
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

/** Each request lists all subscriptions; facts are the differences from the one before. */
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
