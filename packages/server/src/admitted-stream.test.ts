import type { ByteStream } from "@xdstp/core";
import { createFakeClock, createMemoryStream } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { createAdmission } from "./admission.ts";
import { defaultServerLimits } from "./server-limits.ts";
import { admitStream } from "./admitted-stream.ts";

describe("admitStream()", () => {
  it("goes on not to read where the stream itself has stopped while it was let in [S-RECON-9] [S-LIM-2]", () => {
    const clock = createFakeClock();
    const admission = createAdmission(clock, { ...defaultServerLimits.admission, firstSyncs: 1 });
    const first = { admit: () => undefined, reject: () => undefined };
    admission.enter(first);
    const read: string[] = [];
    const outs: ByteStream[] = [];
    const stream = createMemoryStream((out) =>
      admitStream(admission, out, (admitted) => {
        outs.push(admitted);
        return {
          onMessage(message) {
            read.push(Buffer.from(message).toString());
            admitted.pause?.();
          },
          onDrained: () => undefined,
          onClosed: () => undefined,
          end: (status) => {
            admitted.close(status);
          },
        };
      }),
    );
    for (const text of ["a", "b"]) stream.send(Buffer.from(text));
    expect([read, stream.paused]).toEqual([[], true]);
    admission.leave(first);
    expect([read, stream.paused]).toEqual([["a"], true]);
    outs[0]?.resume?.();
    expect([read, stream.paused]).toEqual([["a", "b"], true]);
    stream.cancel();
    expect([admission.stats().syncing, clock.pending]).toEqual([0, 0]);
  });

  it("takes a wire that cannot pause: what it hands over waits, a little of it", () => {
    const clock = createFakeClock();
    const admission = createAdmission(clock, { ...defaultServerLimits.admission, firstSyncs: 1 });
    admission.enter({ admit: () => undefined, reject: () => undefined });
    const closed: number[] = [];
    const handler = admitStream(
      admission,
      {
        send: () => true,
        close: ({ code }) => {
          closed.push(code);
        },
      },
      (out) => ({
        onMessage: () => undefined,
        onDrained: () => undefined,
        onClosed: () => undefined,
        end: (status) => {
          out.close(status);
        },
      }),
    );
    for (let i = 0; i < 16; i++) handler.onMessage(Uint8Array.of(i));
    expect(closed).toEqual([]);
    handler.onMessage(Uint8Array.of(16));
    expect(closed).toEqual([8]);
  });
});
