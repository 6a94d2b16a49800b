import { XdsError } from "@xdstp/core";

/** A part of an event stream. */
export type StreamPart =
  | {
      readonly kind: "event";
      /** The name; empty: it has none. */
      readonly event: string;
      /** The id of this event, or of an earlier one if it has none. Absent: no event had one. */
      readonly id: string | undefined;
      readonly data: string;
    }
  /** A line that means nothing but that the server is there. */
  | { readonly kind: "comment" }
  /** The pause before the next request that the server asks for. */
  | { readonly kind: "retry"; readonly ms: number };

/** The options of {@link readEventStream}. */
export interface EventStreamReading {
  /** The maximum number of characters of an event, or of a line. */
  readonly atMost: number;
  /** Called with each part in order. It must not throw. */
  readonly onPart: (part: StreamPart) => void;
}

/**
 * Reads Server-Sent Events to the end of the stream (section 9.2.6 of the HTML standard). Rejects if
 * the stream breaks, and with an XdsError, RESOURCE_EXHAUSTED, if an event is too large.
 */
export async function readEventStream(
  body: ReadableStream<Uint8Array>,
  options: EventStreamReading,
): Promise<void> {
  const decoder = new TextDecoder();
  const lines = new EventLines(options);
  // Not all browsers can iterate a stream.
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const isTooLarge = !lines.read(decoder.decode(read.value, { stream: true }));
    if (!isTooLarge) continue;
    // The connection may break at the same moment; the error below says more.
    reader.cancel().catch(() => undefined);
    throw new XdsError(
      "RESOURCE_EXHAUSTED",
      `an event is larger than ${options.atMost} characters; the limit is answerBytes`,
    );
  }
}

/** Finds lines and events in texts that begin and end anywhere. */
class EventLines {
  readonly #options: EventStreamReading;
  /** The parts of a line whose end has not arrived. */
  readonly #line: string[] = [];
  readonly #data: string[] = [];
  #event = "";
  #id: string | undefined;
  /** The characters that are kept of the present event. */
  #size = 0;
  /** True after a carriage return at the end of a text: a line feed may belong to it. */
  #isAfterReturn = false;

  constructor(options: EventStreamReading) {
    this.#options = options;
  }

  /** Returns false if an event is too large; nothing may be read after it. */
  read(text: string): boolean {
    if (text === "") return true;
    let start = this.#isAfterReturn && text.startsWith("\n") ? 1 : 0;
    const end = /\r\n|\r|\n/g;
    end.lastIndex = start;
    for (let found = end.exec(text); found !== null; found = end.exec(text)) {
      if (!this.#keep(text.slice(start, found.index))) return false;
      start = end.lastIndex;
      const line = this.#line.splice(0).join("");
      this.#takeLine(line);
    }
    this.#isAfterReturn = text.endsWith("\r");
    return this.#keep(text.slice(start));
  }

  #keep(part: string): boolean {
    if (part !== "") this.#line.push(part);
    this.#size += part.length;
    return this.#size <= this.#options.atMost;
  }

  #takeLine(line: string): void {
    const { onPart } = this.#options;
    if (line === "") {
      this.#dispatch();
      return;
    }
    if (line.startsWith(":")) {
      this.#size -= line.length;
      onPart({ kind: "comment" });
      return;
    }
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && /^\d{1,9}$/.test(value))
      onPart({ kind: "retry", ms: Number(value) });
  }

  #dispatch(): void {
    const event = this.#event;
    const data = this.#data.splice(0);
    this.#event = "";
    this.#size = 0;
    if (data.length > 0)
      this.#options.onPart({ kind: "event", event, id: this.#id, data: data.join("\n") });
  }
}
