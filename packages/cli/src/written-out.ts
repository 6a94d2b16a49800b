import type { Writable } from "node:stream";

/** Resolves when an output has passed all its bytes to the system, or has failed. The system buffers about 64 KiB of a pipe, so this takes as long as the reader takes. */
export async function writtenOut(output: Writable): Promise<void> {
  if (output.writableLength === 0) return;
  await new Promise<void>((resolve) => {
    output.write("", () => {
      resolve();
    });
  });
}
