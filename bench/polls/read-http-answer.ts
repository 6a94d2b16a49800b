/** The parts of an answer that a poll needs. */
export interface HttpAnswer {
  readonly status: number;
  /** Returns the value of a header, or an empty text. */
  readonly header: (name: string) => string;
  readonly body: Buffer;
}

const end = "\r\n\r\n";

/** Reads an answer with a content length. `undefined`: a part of it is missing. */
export function readHttpAnswer(input: Buffer): HttpAnswer | undefined {
  const headEnd = input.indexOf(end);
  if (headEnd < 0) return undefined;
  const head = input.toString("latin1", 0, headEnd);
  const header = (name: string): string =>
    new RegExp(`^${name}: *(.*)$`, "im").exec(head)?.[1]?.trim() ?? "";
  const body = input.subarray(headEnd + end.length);
  if (body.length < Number(header("content-length"))) return undefined;
  return { status: Number(head.slice("HTTP/1.1 ".length).slice(0, 3)), header, body };
}
