import type { MemoryStream } from "./create-memory-stream.ts";

/** What a raw client needs of a wire; a {@link MemoryStream} is one. */
export type RawWire = Pick<MemoryStream, "send" | "take">;

/** Takes and decodes what a raw client reads. */
export interface Reader<Response> {
  /** The oldest response not read yet. Throws where there is none. */
  next(): Response;
  /** All that was not read yet; none is an empty list. */
  rest(): readonly Response[];
}

/** Reads a wire message by message. */
export function createReader<Response>(
  wire: Pick<RawWire, "take">,
  decode: (bytes: Uint8Array) => Response,
): Reader<Response> {
  return {
    next() {
      const bytes = wire.take();
      if (bytes === undefined) throw new Error("a message was expected, and none has come");
      return decode(bytes);
    },
    rest() {
      const responses: Response[] = [];
      for (let bytes = wire.take(); bytes !== undefined; bytes = wire.take())
        responses.push(decode(bytes));
      return responses;
    },
  };
}
