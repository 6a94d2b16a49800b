import { ProtobufWriter } from "./protobuf-writer.ts";

/** What is longer gets memory of its own. */
const MOST = 1 << 20;

let shared = new ProtobufWriter(4_096);

/** A writer over memory that is used again for the next message: what was written is hashed or copied before. */
export function scratchWriter(length: number): ProtobufWriter {
  if (length > MOST) return new ProtobufWriter(length);
  if (length > shared.bytes.length) shared = new ProtobufWriter(2 * length);
  shared.position = 0;
  return shared;
}
