import {
  StatusCode,
  type ByteStream,
  type ByteStreamHandler,
  type Message,
  type Status,
} from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { createMemoryStream, type MemoryStream } from "./create-memory-stream.ts";

/** Returns a message as an encoder creates it: the enveloped form and a view of it. */
function messageOf(...bytes: readonly number[]): Message {
  const enveloped = Uint8Array.of(0, 0, 0, 0, bytes.length, ...bytes);
  return { bytes: enveloped.subarray(5), enveloped };
}

interface Joined {
  readonly stream: MemoryStream;
  readonly out: ByteStream;
  readonly log: readonly string[];
}

/** Creates a handler that records each call. */
function useMachine(more: Partial<ByteStreamHandler> = {}): Joined {
  const log: string[] = [];
  const outs: ByteStream[] = [];
  const stream = createMemoryStream((out) => {
    outs.push(out);
    return {
      onMessage: (bytes) => {
        log.push(`message ${bytes.join()}`);
      },
      onDrained: () => {
        log.push("drained");
      },
      onClosed: ({ code, message }) => {
        log.push(`closed ${code} ${message}`);
      },
      ...more,
    };
  });
  const [out] = outs;
  if (out === undefined) throw new Error("serve was not called");
  return { stream, out, log };
}

describe("createMemoryStream()", () => {
  it("gives messages to the machine, and what it sends to the peer, in order", () => {
    const { stream, out, log } = useMachine();
    stream.send(Uint8Array.of(1, 2));
    expect(log).toEqual(["message 1,2"]);
    expect(out.send(messageOf(3))).toBe(true);
    out.send(messageOf(4));
    expect(stream.unread).toBe(2);
    expect([stream.take(), stream.take(), stream.take()]).toEqual([
      Uint8Array.of(3),
      Uint8Array.of(4),
      undefined,
    ]);
  });

  it("overwrites what the machine was lent, and nothing else", () => {
    let kept = new Uint8Array();
    const { stream } = useMachine({
      onMessage: (bytes) => {
        kept = bytes as Uint8Array<ArrayBuffer>;
      },
    });
    const given = Uint8Array.of(1, 2);
    stream.send(given);
    expect(kept).toEqual(Uint8Array.of(0xff, 0xff));
    expect(given).toEqual(Uint8Array.of(1, 2));
  });

  it("is full until it is drained, and takes messages all the same", () => {
    const { stream, out, log } = useMachine();
    stream.fill();
    expect(out.send(messageOf(1))).toBe(false);
    expect(stream.take()).toEqual(Uint8Array.of(1));
    stream.drain();
    stream.drain();
    expect(log).toEqual(["drained"]);
    expect(out.send(messageOf(2))).toBe(true);
  });

  it("ends from the machine once, and ignores what comes later from either side", () => {
    const { stream, out, log } = useMachine();
    out.close({ code: StatusCode.UNAVAILABLE, message: "later" });
    out.close({ code: StatusCode.OK, message: "" });
    stream.fill();
    expect(out.send(messageOf(1))).toBe(true);
    stream.send(Uint8Array.of(1));
    stream.drain();
    stream.end();
    stream.cancel();
    expect(log).toEqual(["closed 14 later"]);
    expect(stream.closed).toEqual({ code: StatusCode.UNAVAILABLE, message: "later" });
    expect(stream.unread).toBe(0);
  });

  it("ends from the peer", () => {
    const { stream, log } = useMachine();
    expect(stream.closed).toBeUndefined();
    stream.cancel();
    expect(log).toEqual(["closed 1 cancelled by the peer"]);
    const status: Status = { code: StatusCode.DEADLINE_EXCEEDED, message: "late" };
    const other = useMachine();
    other.stream.cancel(status);
    expect(other.stream.closed).toBe(status);
  });

  it("ends with OK when the peer sends no more, unless the machine says otherwise", () => {
    const { stream, log } = useMachine();
    stream.end();
    expect(log).toEqual(["closed 0 "]);
    const ends: string[] = [];
    const other = useMachine({
      onEnd: () => {
        ends.push("end");
      },
    });
    other.stream.end();
    expect(ends).toEqual(["end"]);
    expect(other.stream.closed).toBeUndefined();
  });

  it("tells a machine that rejects the call at once, when it is there", () => {
    const log: string[] = [];
    const stream = createMemoryStream((out) => {
      out.close({ code: StatusCode.UNAVAILABLE, message: "not ready" });
      return {
        onMessage: () => {
          log.push("message");
        },
        onDrained: () => {
          log.push("drained");
        },
        onClosed: () => {
          log.push("closed");
        },
      };
    });
    stream.send(Uint8Array.of(1));
    expect(log).toEqual(["closed"]);
    expect(stream.closed?.message).toBe("not ready");
  });

  it.each([
    ["other bytes", Uint8Array.of(0, 0, 0, 0, 1, 9)],
    ["a wrong length", Uint8Array.of(0, 0, 0, 0, 2, 1)],
    ["a flag", Uint8Array.of(1, 0, 0, 0, 1, 1)],
    ["no head", Uint8Array.of(1)],
    ["a tail", Uint8Array.of(0, 0, 0, 0, 1, 1, 1)],
  ])("throws at a machine whose enveloped form has %s", (_what, enveloped) => {
    const { out } = useMachine();
    expect(() => out.send({ bytes: Uint8Array.of(1), enveloped })).toThrow(
      "enveloped is not the message",
    );
  });
});

describe("createMemoryStream(), while the machine does not read", () => {
  it("keeps what is sent, and the end behind it, in order", () => {
    const { stream, out, log } = useMachine({
      onEnd: () => {
        log2.push("end");
      },
    });
    const log2: string[] = [];
    out.pause?.();
    expect(stream.paused).toBe(true);
    stream.send(Uint8Array.of(1));
    stream.send(Uint8Array.of(2));
    stream.end();
    expect(log).toEqual([]);
    out.resume?.();
    expect([log, log2, stream.paused]).toEqual([["message 1", "message 2"], ["end"], false]);
  });

  it("gives no more than the machine reads before it stops again, and nothing after the end", () => {
    const outs: ByteStream[] = [];
    const { stream, out, log } = useMachine({
      onMessage: (bytes) => {
        log2.push(bytes.join());
        outs[0]?.pause?.();
      },
    });
    const log2: string[] = [];
    outs.push(out);
    for (const byte of [1, 2, 3]) stream.send(Uint8Array.of(byte));
    expect(log2).toEqual(["1"]);
    out.resume?.();
    expect(log2).toEqual(["1", "2"]);
    stream.cancel();
    out.resume?.();
    expect(log2).toEqual(["1", "2"]);
    expect(log).toEqual(["closed 1 cancelled by the peer"]);
  });
});
