import { describe, expect, test } from "vitest";
import { envelope } from "../envelope.ts";
import { createMessageReader } from "./message-reader.ts";

describe("createMessageReader()", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 50, 1000])(
    "finds the same messages in pieces of %i bytes",
    (size) => {
      const texts = ["", "a", "x".repeat(300), "", "bc"];
      const stream = Buffer.concat(texts.map((text) => envelope([Buffer.from(text)])));
      const seen: string[] = [];
      const reader = createMessageReader((message) => {
        seen.push(message.toString());
      });
      for (let at = 0; at < stream.length; at += size) reader.push(stream.subarray(at, at + size));
      expect(seen).toEqual(texts);
    },
  );
});
