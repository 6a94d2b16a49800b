/** Cuts what comes over a stream into messages. */
export interface MessageReader {
  push(chunk: Buffer): void;
}

const headBytes = 5;

/** A reader that copies a message only if it came in pieces, and then once. */
export function createMessageReader(onMessage: (message: Buffer) => void): MessageReader {
  let pieces: Buffer[] = [];
  let held = 0;
  let needed = headBytes;
  return {
    push(chunk) {
      pieces.push(chunk);
      held += chunk.length;
      if (held < needed) return;
      const bytes = pieces.length === 1 ? chunk : Buffer.concat(pieces);
      let at = 0;
      for (;;) {
        const rest = bytes.length - at;
        needed = rest < headBytes ? headBytes : headBytes + bytes.readUInt32BE(at + 1);
        if (rest < needed) break;
        onMessage(bytes.subarray(at + headBytes, at + needed));
        at += needed;
      }
      pieces = at === bytes.length ? [] : [bytes.subarray(at)];
      held = bytes.length - at;
    },
  };
}
