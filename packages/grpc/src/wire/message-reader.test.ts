import { StatusCode, type Status } from "@xdstp/core";
import { describe, expect, test } from "vitest";
import { enveloped } from "../../test/raw-client.ts";
import { createRandom, scaled, seedOf } from "../../test/random.ts";
import {
  createMessageReader,
  type MessageReader,
  type MessageReaderHost,
} from "./message-reader.ts";

interface Seen {
  readonly reader: MessageReader;
  readonly messages: Buffer[];
  readonly bad: { reason: string; status: Status }[];
  readonly asked: { length: number; prefix: number }[];
  held: number;
  mostHeld: number;
  turns: number;
}

const limits = { maxMessageBytes: 1000, maxFirstMessageBytes: 100_000 };

function createReader(host: Partial<MessageReaderHost> = {}, sizes: typeof limits = limits): Seen {
  const messages: Buffer[] = [];
  const bad: Seen["bad"] = [];
  const asked: Seen["asked"] = [];
  const reader = createMessageReader(sizes, {
    onMessage(message) {
      messages.push(Buffer.from(message));
    },
    takeTurn() {
      seen.turns += 1;
      return true;
    },
    leaveTurn() {
      seen.turns -= 1;
    },
    reserve(bytes) {
      seen.held += bytes;
      seen.mostHeld = Math.max(seen.mostHeld, seen.held);
      return true;
    },
    onBad(reason, status) {
      bad.push({ reason, status });
    },
    ...host,
    admits(length, prefix) {
      asked.push({ length, prefix: prefix.length });
      return host.admits === undefined ? false : host.admits(length, prefix);
    },
  });
  const seen: Seen = { reader, messages, bad, asked, held: 0, mostHeld: 0, turns: 0 };
  return seen;
}

function head(length: number, flag = 0): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt8(flag, 0);
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

describe("createMessageReader()", () => {
  test("gives a message that lies whole in a chunk as a view of it, without memory of its own", () => {
    let given: Uint8Array | undefined;
    const seen = createReader({
      onMessage: (message) => {
        given = message;
      },
    });
    const chunk = enveloped("ack");
    expect(seen.reader.push(chunk)).toBe(chunk.length);
    expect(given?.buffer).toBe(chunk.buffer);
    expect(Buffer.from(given ?? []).toString()).toBe("ack");
    expect(seen.mostHeld).toBe(0);
  });

  test("reads several messages of one chunk, empty ones too", () => {
    const seen = createReader();
    seen.reader.push(
      Buffer.concat([enveloped("a"), enveloped(""), enveloped("bc"), enveloped("")]),
    );
    expect(seen.messages.map(String)).toEqual(["a", "", "bc", ""]);
    expect(seen.reader.inside).toBe(false);
  });

  test("reads messages that come byte by byte", () => {
    const seen = createReader();
    for (const byte of Buffer.concat([
      enveloped("hello"),
      enveloped(""),
      enveloped("x".repeat(1000)),
    ]))
      seen.reader.push(Buffer.of(byte));
    expect(seen.messages.map(String)).toEqual(["hello", "", "x".repeat(1000)]);
    expect(seen.held).toBe(0);
    expect(seen.reader.inside).toBe(false);
  });

  test.for([1001, 100_001, 0xffff_ffff])(
    "rejects a length of %d before it allocates [S-SIZE-5]",
    (length) => {
      const seen = createReader();
      seen.reader.push(head(length));
      expect(seen.bad.map(({ reason, status }) => [reason, status.code])).toEqual([
        ["too-large", StatusCode.RESOURCE_EXHAUSTED],
      ]);
      expect(seen.mostHeld).toBe(0);
      expect(seen.reader.push(enveloped("more"))).toBe(0);
    },
  );

  test("allocates by what has come, not by what is announced [S-SIZE-5]", () => {
    const seen = createReader(
      { admits: () => true },
      { maxMessageBytes: 1000, maxFirstMessageBytes: 32 * 1024 * 1024 },
    );
    seen.reader.push(head(32 * 1024 * 1024));
    seen.reader.push(Buffer.alloc(1));
    expect(seen.mostHeld).toBe(16 * 1024);
    seen.reader.push(Buffer.alloc(20_000));
    expect(seen.held).toBe(32 * 1024);
  });

  test("answers a compressed message with UNIMPLEMENTED", () => {
    const seen = createReader();
    seen.reader.push(head(3, 1));
    expect(seen.bad.map(({ reason, status }) => [reason, status.code])).toEqual([
      ["compressed", StatusCode.UNIMPLEMENTED],
    ]);
  });

  test("answers bytes that are not a message with INVALID_ARGUMENT [S-STREAM-7]", () => {
    const seen = createReader();
    seen.reader.push(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
    expect(seen.bad.map(({ reason, status }) => [reason, status.code])).toEqual([
      ["malformed", StatusCode.INVALID_ARGUMENT],
    ]);
  });

  test("asks about a large message with more of it each time, and reads it when admitted [S-SIZE-5]", () => {
    const seen = createReader({ admits: (_, prefix) => (prefix.length < 300 ? undefined : true) });
    seen.reader.push(head(5000));
    for (let at = 0; at < 5000; at += 50) seen.reader.push(Buffer.alloc(50, 7));
    expect(seen.asked).toEqual([0, 50, 100, 200, 400].map((prefix) => ({ length: 5000, prefix })));
    expect(seen.messages).toEqual([Buffer.alloc(5000, 7)]);
    expect([seen.turns, seen.held]).toEqual([0, 0]);
  });

  test("holds no more than an ordinary message of one that nobody admits [S-SIZE-5]", () => {
    const seen = createReader({ admits: () => undefined });
    seen.reader.push(Buffer.concat([head(5000), Buffer.alloc(5000)]));
    expect(seen.bad.map(({ reason }) => reason)).toEqual(["too-large"]);
    expect(seen.asked.at(-1)).toEqual({ length: 5000, prefix: 1000 });
    expect(seen.held).toBe(0);
  });

  test("waits for its turn and takes no byte meanwhile", () => {
    const seen = createReader({ admits: () => true, takeTurn: () => false });
    const chunk = Buffer.concat([head(5000), Buffer.alloc(100)]);
    expect(seen.reader.push(chunk)).toBe(5);
    expect([seen.reader.waiting, seen.reader.push(Buffer.alloc(10))]).toEqual([true, 0]);
    seen.reader.proceed();
    expect(seen.reader.push(Buffer.alloc(5000))).toBe(5000);
    expect(seen.messages).toEqual([Buffer.alloc(5000)]);
  });

  test("gives turn and memory back when it is stopped inside a message [S-STREAM-10]", () => {
    const seen = createReader({ admits: () => true });
    seen.reader.push(Buffer.concat([head(5000), Buffer.alloc(100)]));
    expect([seen.turns, seen.held]).toEqual([1, 5000]);
    seen.reader.stop();
    seen.reader.stop();
    expect([seen.turns, seen.held]).toEqual([0, 0]);
  });

  test("reads nothing after a handler has stopped it inside a chunk", () => {
    const messages: string[] = [];
    const seen = createReader({
      onMessage: (message) => {
        messages.push(Buffer.from(message).toString());
        seen.reader.stop();
      },
    });
    seen.reader.push(Buffer.concat([enveloped("one"), enveloped("two")]));
    expect(messages).toEqual(["one"]);
  });

  test("ends with RESOURCE_EXHAUSTED when there is no memory for an unfinished message [S-LIM-1]", () => {
    const seen = createReader({ reserve: (bytes) => bytes <= 0 });
    seen.reader.push(Buffer.concat([head(100), Buffer.alloc(10)]));
    expect(seen.bad.map(({ reason, status }) => [reason, status.code])).toEqual([
      ["partial-bytes", StatusCode.RESOURCE_EXHAUSTED],
    ]);
  });

  test(`reads ${scaled(100_000)} random inputs in random pieces as a plain reader does [S-STREAM-7]`, () => {
    const seed = seedOf();
    const random = createRandom(seed);
    for (let round = 0; round < scaled(100_000); round += 1) {
      const input = randomInput(random);
      const whole = plainRead(input);
      const seen = createReader();
      for (let at = 0; at < input.length;) {
        const size = 1 + random(random(3) === 0 ? 3 : 400);
        seen.reader.push(input.subarray(at, at + size));
        at += size;
      }
      expect({
        seed,
        round,
        messages: seen.messages,
        bad: seen.bad.map(({ reason }) => reason),
        held: seen.reader.inside ? 0 : seen.held,
      }).toEqual({ seed, round, ...whole, held: 0 });
      seen.reader.stop();
      expect(seen.held).toBe(0);
    }
  });
});

/** Returns random input: mostly well-formed messages, and sometimes something else. */
function randomInput(random: (below: number) => number): Buffer {
  const parts = Array.from({ length: random(6) }, () =>
    enveloped(Buffer.alloc(random(random(4) === 0 ? 1001 : 20), random(256))),
  );
  const tails: (() => Buffer)[] = [
    () => Buffer.alloc(0),
    () => head(random(2) === 0 ? 1001 + random(200_000) : random(2000), random(3)),
    () => Buffer.from(Array.from({ length: random(30) }, () => random(256))),
    () => enveloped(Buffer.alloc(500)).subarray(0, random(500)),
  ];
  return Buffer.concat([...parts, tails[random(tails.length)]?.() ?? Buffer.alloc(0)]);
}

/** Implements the same rules for a whole input. */
function plainRead(input: Buffer): { messages: Buffer[]; bad: string[] } {
  const messages: Buffer[] = [];
  let at = 0;
  while (input.length - at >= 5) {
    const flag = input.readUInt8(at);
    const length = input.readUInt32BE(at + 1);
    if (flag === 1) return { messages, bad: ["compressed"] };
    if (flag > 1) return { messages, bad: ["malformed"] };
    if (length > limits.maxMessageBytes) return { messages, bad: ["too-large"] };
    if (input.length - at - 5 < length) break;
    messages.push(Buffer.from(input.subarray(at + 5, at + 5 + length)));
    at += 5 + length;
  }
  return { messages, bad: [] };
}
