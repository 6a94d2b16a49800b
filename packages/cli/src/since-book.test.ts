import { describe, expect, it } from "vitest";
import { streamStatus } from "../test/status-of.ts";
import { createSinceBook } from "./table-reporter.ts";

const ack = (id: number, typeUrl: string) =>
  ({ kind: "ack", stream: streamStatus(id, []), typeUrl, version: "1", nonce: "1" }) as const;

describe("createSinceBook()", () => {
  it("knows when something last happened, by stream and type", () => {
    const book = createSinceBook();
    book.note({ kind: "connect", stream: streamStatus(1, []) }, 1);
    book.note({ kind: "connect", stream: streamStatus(2, []) }, 2);
    book.note(ack(1, "a"), 3);
    book.note(ack(1, "b"), 4);
    book.note(ack(2, "a"), 5);
    book.note(ack(1, "a"), 6);
    book.note({ kind: "connection-closed", peer: "p" }, 7);
    expect([
      book.of(1, "a"),
      book.of(1, "b"),
      book.of(2, "a"),
      book.of(2, "b"),
      book.of(3, "a"),
    ]).toEqual([6, 4, 5, undefined, undefined]);
  });

  it("forgets streams that have ended, and hears no more of them", () => {
    const book = createSinceBook();
    book.note({ kind: "connect", stream: streamStatus(1, []) }, 1);
    book.note(ack(1, "a"), 2);
    book.note({ kind: "disconnect", stream: streamStatus(1, []), code: 0, message: "" }, 3);
    expect(book.of(1, "a")).toBeUndefined();
    book.note(ack(1, "a"), 4);
    expect(book.of(1, "a")).toBeUndefined();
  });
});
