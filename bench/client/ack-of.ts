/** The fields of a response that a client reads. They have the same numbers in both variants. */
export interface Response {
  readonly resources: number;
  /** The places of the fields that an ACK repeats, without their tags. */
  readonly version: Slice;
  readonly typeUrl: Slice;
  readonly nonce: Slice;
}

type Slice = readonly [start: number, end: number];

const fields = { version: 1, resources: 2, typeUrl: 4, nonce: 5 };
const nothing: Slice = [0, 0];

/** Walks over the fields of a response; resources are counted, not read. */
export function readResponse(message: Buffer): Response {
  const found = new Array<Slice>(8).fill(nothing);
  let resources = 0;
  let at = 0;
  while (at < message.length) {
    const field = (message[at] ?? 0) >> 3;
    const start = at + 1;
    const [length, bodyStart] = readVarint(message, start);
    at = bodyStart + length;
    if (field === fields.resources) resources++;
    else found[field] = [start, at];
  }
  const slice = (field: number): Slice => found[field] ?? nothing;
  return {
    resources,
    version: slice(fields.version),
    typeUrl: slice(fields.typeUrl),
    nonce: slice(fields.nonce),
  };
}

/** The ACK of a response, behind the five bytes of gRPC. SotW repeats the version (field 1), type URL (4) and nonce (5); delta the type URL (2) and nonce (6). */
export function ackOf(
  message: Buffer,
  { version, typeUrl, nonce }: Response,
  variant: "delta" | "sotw",
): Buffer {
  const parts: readonly (readonly [tag: number, slice: Slice])[] =
    variant === "delta"
      ? [
          [0x12, typeUrl],
          [0x32, nonce],
        ]
      : [
          [0x0a, version],
          [0x22, typeUrl],
          [0x2a, nonce],
        ];
  const length = parts.reduce((sum, [, [start, end]]) => sum + 1 + end - start, 0);
  const ack = Buffer.allocUnsafe(5 + length);
  ack[0] = 0;
  ack.writeUInt32BE(length, 1);
  let at = 5;
  for (const [tag, [start, end]] of parts) {
    ack[at] = tag;
    at += 1 + message.copy(ack, at + 1, start, end);
  }
  return ack;
}

function readVarint(message: Buffer, at: number): readonly [value: number, next: number] {
  let value = 0;
  let shift = 1;
  let next = at;
  for (;;) {
    const byte = message[next++] ?? 0;
    value += (byte & 0x7f) * shift;
    if (byte < 0x80) return [value, next];
    shift *= 128;
  }
}
