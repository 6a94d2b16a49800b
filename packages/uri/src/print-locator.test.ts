import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyLocator, anyText } from "../test/arbitraries.ts";
import { locator } from "../test/parsed.ts";
import { property } from "../test/scale.ts";
import type { Locator } from "./locator.ts";
import { parseLocator } from "./parse-locator.ts";
import { printLocator } from "./print-locator.ts";

const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join("");

describe("printLocator()", () => {
  it("prints directives in their given order [N-36]", () => {
    for (const text of [
      "xdstp://a/t/x#entry=e,alt=file:///y",
      "xdstp://a/t/x#alt=file:///y,entry=e",
    ]) {
      expect(printLocator(locator(text))).toBe(text);
    }
  });

  it("keeps in a directive value unreserved, sub-delims but the comma, and : @ / ? [N-36]", () => {
    const keeps = /[A-Za-z0-9._~!$&'()*+;=:@/?-]/;
    const entry = Array.from(ascii, (character, code) =>
      keeps.test(character) ? character : `%${code.toString(16).toUpperCase().padStart(2, "0")}`,
    ).join("");
    expect(
      printLocator({ scheme: "file", id: "x", directives: [{ kind: "entry", entry: ascii }] }),
    ).toBe(`file:///x#entry=${entry}`);
  });

  it("sorts and escapes an inner locator once per level [N-37]", () => {
    const printed = printLocator(
      locator("xdstp://a/t/x#alt=xdstp://b/t/y?z=1&b=%20%23alt=xdstp://c/t/%252520%252523"),
    );
    expect(printed).toBe(
      "xdstp://a/t/x#alt=xdstp://b/t/y?b=%2520&z=1%23alt=xdstp://c/t/%252520%252523",
    );
    expect(locator(printed)).toMatchObject({
      directives: [
        {
          locator: {
            contextParams: new Map([
              ["b", " "],
              ["z", "1"],
            ]),
            directives: [{ locator: { id: " #" } }],
          },
        },
      ],
    });
  });

  it("escapes a nested directive twice [N-37]", () => {
    const inner: Locator = {
      scheme: "file",
      id: "y",
      directives: [{ kind: "entry", entry: "a,b" }],
    };
    const outer: Locator = {
      scheme: "file",
      id: "x",
      directives: [{ kind: "alt", locator: inner }],
    };
    expect(printLocator(outer)).toBe("file:///x#alt=file:///y%23entry=a%252Cb");
  });

  it.each([
    ["file:///a b/*", "file:///a%20b/*"],
    ["file://", "file:///"],
    ["http://H:80/t/x?b&a", "http://H:80/t/x?a=&b="],
  ])("prints %j as %j [N-38]", (text, printed) => {
    expect(printLocator(locator(text))).toBe(printed);
  });

  it("prints what parses back to equal parts and prints again the same [N-39]", () => {
    fc.assert(
      fc.property(anyLocator(3), (parts) => {
        const printed = printLocator(parts);
        const parsed = parseLocator(printed);
        expect(parsed).toEqual({ ok: true, value: parts });
        expect(parsed.ok && printLocator(parsed.value)).toBe(printed);
      }),
      property,
    );
  });

  it("prints any text that parses so that it stays the same from then on [N-39]", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const parsed = parseLocator(text);
        if (!parsed.ok) return;
        const printed = printLocator(parsed.value);
        expect(parseLocator(printed)).toEqual(parsed);
      }),
      property,
    );
  });
});
