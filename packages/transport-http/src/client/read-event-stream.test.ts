import { describe, expect, it } from "vitest";

import { readEventStream, type StreamPart } from "./read-event-stream.ts";

/** Reads the parts of a stream whose bytes come in chunks of this size. */
async function partsOf(
  text: string,
  { chunk = 1_000, atMost = 1_000 } = {},
): Promise<readonly StreamPart[]> {
  const bytes = new TextEncoder().encode(text);
  const parts: StreamPart[] = [];
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, (at += chunk)));
    },
  });
  await readEventStream(body, {
    atMost,
    onPart: (part) => {
      parts.push(part);
    },
  });
  return parts;
}

const event = (data: string, name = "", id?: string): StreamPart => ({
  kind: "event",
  event: name,
  id,
  data,
});

describe("readEventStream()", () => {
  it.each([1, 2, 3, 7, 1_000])("reads events in chunks of %i bytes [B-HTTP-15]", async (chunk) => {
    const text =
      '\uFEFF:\n\nevent: resource\r\nid: 1\r\ndata: {"ü":\r\ndata:1}\r\n\r\nretry: 10\rdata\r\rdata: last\n\n';
    expect(await partsOf(text, { chunk })).toEqual([
      { kind: "comment" },
      event('{"ü":\n1}', "resource", "1"),
      { kind: "retry", ms: 10 },
      event("", "", "1"),
      event("last", "", "1"),
    ]);
  });

  it("ignores fields that it does not know, and an event that has no end", async () => {
    expect(await partsOf("other: x\nid: a\0b\nretry: 1s\nid\n\n\ndata: cut")).toEqual([]);
  });

  it.each([
    ["a line without an end", "data: 123456"],
    ["a comment without an end", ":12345678901"],
    ["many lines", "data: 1\ndata: 2\ndata: 3\n\n"],
    ["many names", "event: 1\nevent: 2\n\n"],
  ])("rejects %s that is too large", async (_, text) => {
    await expect(partsOf(text, { chunk: 2, atMost: 10 })).rejects.toThrow(
      "[RESOURCE_EXHAUSTED] an event is larger than 10 characters; the limit is answerBytes",
    );
  });

  it("counts the characters of one event, and none of comments that are complete", async () => {
    const text = ":123456\n:123456\ndata: 1\n\ndata: 2\n\n";
    expect(await partsOf(text, { atMost: 10 })).toEqual([
      { kind: "comment" },
      { kind: "comment" },
      event("1"),
      event("2"),
    ]);
  });

  it("reads a large event in many chunks in linear time", async () => {
    const data = "x".repeat(4_000_000);
    const parts = await partsOf(`data: ${data}\n\n`, { chunk: 1_000, atMost: 5_000_000 });
    expect(parts).toEqual([event(data)]);
  });
});
