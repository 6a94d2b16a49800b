/** The parts of an answer that a long poll needs. */
export interface HttpAnswer {
  readonly status: number;
  readonly version: string;
  readonly position: string;
}

const end = "\r\n\r\n";

/** Reads an answer with a content length. `undefined`: a part of it is missing. */
export function readHttpAnswer(input: Buffer): HttpAnswer | undefined {
  const headEnd = input.indexOf(end);
  if (headEnd < 0) return undefined;
  const head = input.toString("latin1", 0, headEnd);
  const valueOf = (name: string): string =>
    new RegExp(`^${name}: *(.*)$`, "im").exec(head)?.[1]?.trim() ?? "";
  if (input.length < headEnd + end.length + Number(valueOf("content-length"))) return undefined;
  return {
    status: Number(head.slice("HTTP/1.1 ".length).slice(0, 3)),
    version: valueOf("xds-version"),
    position: valueOf("xds-position"),
  };
}
