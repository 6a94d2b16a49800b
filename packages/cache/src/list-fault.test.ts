import { describe, expect, it } from "vitest";
import { listFault } from "./list-fault.ts";

const TYPE = "type.googleapis.com/test.Type";

function field(number: number, ...parts: readonly (string | Uint8Array)[]): Uint8Array {
  const value = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  return Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), value]);
}

const inline = (name: string, typeUrl = TYPE): Uint8Array => field(1, field(2, field(1, name), field(3, field(1, typeUrl))));
const located = field(1, field(1, field(2, "id")));

describe("listFault()", () => {
  it("finds nothing in lists of locators and inline entries, and in an empty one [B-LIST-1] [B-LIST-3] [B-LIST-4]", () => {
    for (const list of [[], [located], [located, located], [inline("a"), inline("b"), located], [inline(""), inline("")]]) expect(listFault(Buffer.concat(list), TYPE)).toBeUndefined();
  });

  it("finds an entry that is neither a locator nor inline [B-LIST-3]", () => {
    expect(listFault(Buffer.concat([located, field(1)]), TYPE)).toMatch(/^entry 2 of the list is neither/);
  });

  it("finds a name that occurs twice, and a payload of another type, or none [B-LIST-4]", () => {
    expect(listFault(Buffer.concat([inline("a"), inline("b"), inline("a")]), TYPE)).toMatch(/^entry 3 of the list has the name "a"/);
    expect(listFault(inline("a", "type.googleapis.com/test.Other"), TYPE)).toMatch(/^entry 1 of the list has a payload of type/);
    expect(listFault(field(1, field(2, field(1, "a"))), TYPE)).toMatch(/has a payload of type ""/);
  });

  it("finds bytes that are no list", () => {
    expect(listFault(Uint8Array.of(1 << 3, 1), TYPE)).toMatch(/is no message/);
    expect(listFault(Uint8Array.of(10, 200), TYPE)).toBe("it is no list of collection entries");
  });
});
