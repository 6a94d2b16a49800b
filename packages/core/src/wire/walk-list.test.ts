import { describe, expect, it } from "vitest";

import { walkList, type ListEntry } from "./walk-list.ts";

const TYPE = "type.googleapis.com/test.Type";

function field(number: number, ...parts: readonly (string | Uint8Array)[]): Uint8Array {
  const value = Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)),
  );
  return Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), value]);
}

const inEntry = (name: string, typeUrl = TYPE): Uint8Array =>
  field(2, field(1, name), field(2, "v"), field(3, field(1, typeUrl), field(2, `of ${name}`)));
const inline = (name: string, typeUrl = TYPE): Uint8Array => field(1, inEntry(name, typeUrl));
const located = field(1, field(1, field(2, "id")));

/** Returns the entries that a visitor is called with, as text. */
function seen(list: Uint8Array): readonly string[] {
  const told: string[] = [];
  const show = (entry: ListEntry): string =>
    entry.kind === "locator"
      ? `locator of ${entry.locator.length}`
      : `${entry.name} ${entry.version} ${Buffer.from(entry.payload.value).toString()}`;
  expect(
    walkList(list, TYPE, (entry) => {
      told.push(show(entry));
      return undefined;
    }),
  ).toBeUndefined();
  return told;
}

describe("walkList()", () => {
  it("finds nothing in lists of locators and inline entries, and in an empty one [B-LIST-1] [B-LIST-3] [B-LIST-4]", () => {
    for (const list of [
      [],
      [located],
      [located, located],
      [inline("a"), inline("b"), located],
      [inline(""), inline("")],
    ])
      expect(walkList(Buffer.concat(list), TYPE)).toBeUndefined();
  });

  it("visits entries in their order [B-LIST-1] [B-LIST-3]", () => {
    expect(seen(new Uint8Array())).toEqual([]);
    expect(
      seen(Buffer.concat([inline("a"), field(9, "what nobody knows"), located, inline("")])),
    ).toEqual(["a v of a", "locator of 4", " v of "]);
  });

  it("lets the last of locator and inline count", () => {
    expect(
      seen(
        Buffer.concat([
          field(1, field(1, "xdstp:"), inEntry("a")),
          field(1, inEntry("a"), field(1, "xdstp:")),
        ]),
      ),
    ).toEqual(["a v of a", "locator of 6"]);
  });

  it("finds an entry that is neither a locator nor inline [B-LIST-3]", () => {
    expect(walkList(Buffer.concat([located, field(1)]), TYPE)?.text).toMatch(
      /^entry 2 of the list is neither/,
    );
  });

  it("finds a name that occurs twice, and a payload of another type, or none [B-LIST-4]", () => {
    expect(walkList(Buffer.concat([inline("a"), inline("b"), inline("a")]), TYPE)?.text).toMatch(
      /^entry 3 of the list has the name "a"/,
    );
    expect(walkList(inline("a", "type.googleapis.com/test.Other"), TYPE)?.text).toMatch(
      /^entry 1 of the list has a payload of type/,
    );
    expect(walkList(field(1, field(2, field(1, "a"))), TYPE)?.text).toMatch(
      /has a payload of type ""/,
    );
  });

  it("says what the visitor says, with the number of the entry, and ends there", () => {
    let count = 0;
    expect(
      walkList(Buffer.concat([inline("a"), located, inline("b")]), TYPE, ({ kind }) => {
        count++;
        return kind === "locator" ? { text: "is not wanted" } : undefined;
      }),
    ).toEqual({ text: "entry 2 of the list is not wanted" });
    expect(count).toBe(2);
  });

  it("finds bytes that are not a list, at any depth", () => {
    expect(walkList(Uint8Array.of(1 << 3, 1), TYPE)?.text).toMatch(/is not a message/);
    expect(walkList(Uint8Array.of(10, 200), TYPE)?.text).toBe(
      "it is not a list of collection entries",
    );
    const broken = Uint8Array.of(10, 9);
    for (const entry of [
      field(1, broken),
      field(1, field(2, broken)),
      field(1, field(2, field(3, broken))),
    ])
      expect(walkList(Buffer.concat([located, entry]), TYPE)?.text).toBe(
        "entry 2 of the list is not a message",
      );
  });
});
