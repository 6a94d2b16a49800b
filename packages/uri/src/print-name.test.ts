import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { anyLocator, anyName, anyText } from "../test/arbitraries.ts";
import { locator, name } from "../test/parsed.ts";
import { property } from "../test/scale.ts";
import type { Locator, XdstpName } from "./locator.ts";
import { parseLocator } from "./parse-locator.ts";
import { parseName } from "./parse-name.ts";
import { printLocator, printName } from "./print-name.ts";

const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
const subDelims = "!$&'()*+,;=";

/** Returns all ASCII characters as printed by a printer that keeps the given ones. */
function printedAscii(keeps: string): string {
  return ascii
    .map((character, code) =>
      keeps.includes(character)
        ? character
        : `%${code.toString(16).toUpperCase().padStart(2, "0")}`,
    )
    .join("");
}

function make(parts: Partial<XdstpName>): XdstpName {
  return {
    scheme: "xdstp",
    authority: "a",
    resourceType: "t",
    id: "x",
    contextParams: new Map(),
    ...parts,
  };
}

describe("printName()", () => {
  it("escapes UTF-8 bytes in upper case, the percent sign and non-ASCII always [N-30]", () => {
    expect(
      printName(
        make({ authority: "é%", id: "\u{1F600}%2f", contextParams: new Map([["ÿ", "\u0000%"]]) }),
      ),
    ).toBe("xdstp://%C3%A9%25/t/%F0%9F%98%80%252f?%C3%BF=%00%25");
  });

  it("keeps unreserved, sub-delims and : @ [ ] in the authority [N-31]", () => {
    expect(printName(make({ authority: ascii.join("") }))).toBe(
      `xdstp://${printedAscii(`${unreserved}${subDelims}:@[]`)}/t/x`,
    );
  });

  it("prints the type as it is [N-32]", () => {
    expect(printName(make({ resourceType: "azAZ09.-_~" }))).toBe("xdstp://a/azAZ09.-_~/x");
  });

  it("keeps pchar and / in the id [N-33]", () => {
    expect(printName(make({ id: ascii.join("") }))).toBe(
      `xdstp://a/t/${printedAscii(`${unreserved}${subDelims}:@/`)}`,
    );
  });

  it("prints neither an empty id nor its slash [N-33]", () => {
    expect(printName(make({ id: "" }))).toBe("xdstp://a/t");
    expect(printName(make({ id: "", contextParams: new Map([["k", "v"]]) }))).toBe(
      "xdstp://a/t?k=v",
    );
  });

  it("keeps in keys and values what no client misreads [N-34]", () => {
    const printed = printedAscii(`${unreserved}!$'()*,:@/?`);
    expect(printName(make({ contextParams: new Map([[ascii.join(""), ascii.join("")]]) }))).toBe(
      `xdstp://a/t/x?${printed}=${printed}`,
    );
  });

  it("prints each parameter with its equals sign, empty keys and values too [N-34]", () => {
    expect(printName(name("xdstp://a/t/x?b&=v&c="))).toBe("xdstp://a/t/x?=v&b=&c=");
  });

  it("sorts by the UTF-8 bytes of the decoded keys: not as encoded, not as UTF-16, not as numbers [N-35]", () => {
    const keys = [
      "\u{10000}",
      "\uFFFD",
      "10",
      "9",
      "a",
      "a!",
      "",
      "B",
      "aa",
      "\u{1F600}",
      "é",
      "__proto__",
    ];
    const printed = printName(make({ contextParams: new Map(keys.map((key) => [key, "1"])) }));
    const sorted = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(sorted.indexOf("\uFFFD")).toBeLessThan(sorted.indexOf("\u{10000}"));
    expect([...name(printed).contextParams.keys()]).toEqual(sorted);
    expect(printName(name("xdstp://a/t/x?a!=1&a=2"))).toBe("xdstp://a/t/x?a=2&a!=1");
  });

  it("prints U+FFFD for an unpaired surrogate that no parser gave", () => {
    expect(printName(make({ id: "\udc00é\ud800" }))).toBe("xdstp://a/t/%EF%BF%BD%C3%A9%EF%BF%BD");
  });

  it("prints what parses back to equal parts and prints again the same [N-39]", () => {
    fc.assert(
      fc.property(anyName, (parts) => {
        const printed = printName(parts);
        const parsed = parseName(printed);
        expect(parsed).toEqual({ ok: true, value: parts });
        expect(parsed.ok && printName(parsed.value)).toBe(printed);
      }),
      property,
    );
  });
});

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
    const entry = ascii
      .map((character, code) =>
        keeps.test(character) ? character : `%${code.toString(16).toUpperCase().padStart(2, "0")}`,
      )
      .join("");
    expect(
      printLocator({
        scheme: "file",
        id: "x",
        directives: [{ kind: "entry", entry: ascii.join("") }],
      }),
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
