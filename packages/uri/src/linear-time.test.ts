import { describe, expect, it } from "vitest";
import { countSteps } from "../test/count-steps.ts";
import { isLargeRun } from "../test/scale.ts";
import { authorityOf, nameKey, sameName, typeOf } from "./name-key.ts";
import { globMatches, globOf, isGlob } from "./glob-of.ts";
import { parseLocator } from "./parse-locator.ts";
import { parseName } from "./parse-name.ts";
import { printLocator, printName } from "./print-name.ts";

/** Calls all functions that read text of a peer. */
function readAll(text: string): void {
  const name = parseName(text);
  if (name.ok) printName(name.value);
  const locator = parseLocator(text);
  if (locator.ok) printLocator(locator.value);
  nameKey(text);
  sameName(text, `${text}x`);
  isGlob(text);
  globOf(text);
  globMatches(text, text);
  typeOf(text);
  authorityOf(text);
}

const fill = (size: number, unit: string): string => unit.repeat(Math.ceil(size / unit.length));
const number = (index: number): string => index.toString(36).padStart(6, "0");

/** Returns an inner locator with `levels` alt directives around it. */
function nest(inner: string, levels: number): string {
  return levels === 0
    ? inner
    : nest(
        `xdstp://a/t/x#alt=${inner.replace(/[%#,]/g, (character) => encodeURIComponent(character))}`,
        levels - 1,
      );
}

/** Hostile texts of about the given size. */
const hostile: Readonly<Record<string, (size: number) => string>> = {
  "a long authority": (size) => `xdstp://${fill(size, "a")}/t/x`,
  "a long authority and no type": (size) => `xdstp://${fill(size, "a")}`,
  "a long type": (size) => `xdstp://a/${fill(size, "t")}`,
  "a bad type behind a long one": (size) => `xdstp://a/${fill(size, "t")}!/x`,
  "a long plain id": (size) => `xdstp://a/t/${fill(size, "x")}`,
  slashes: (size) => `xdstp://a/t/${fill(size, "/")}`,
  "slashes and no type": (size) => `xdstp:${fill(size, "/")}`,
  stars: (size) => `xdstp://a/t/${fill(size, "/*")}`,
  escapes: (size) => `xdstp://a/t/${fill(size, "%2F")}`,
  "escapes and plain characters in turn": (size) => `xdstp://a/t/${fill(size, "%20x")}`,
  "percent signs": (size) => `xdstp://a/t/${fill(size, "%")}`,
  "a broken escape at the end": (size) => `xdstp://a/t/${fill(size, "%41")}%4`,
  "invalid UTF-8 behind valid": (size) => `xdstp://a/t/${fill(size, "%C3%A9")}%FF`,
  "UTF-8 that never ends": (size) => `xdstp://a/t/${fill(size, "%F0")}`,
  "non-ASCII": (size) => `xdstp://a/t/${fill(size, "é\u{1F600}")}`,
  "unpaired surrogates": (size) => `xdstp://a/t/${fill(size, "\ud800")}`,
  "an unpaired surrogate behind pairs": (size) => `xdstp://a/t/${fill(size, "\u{1F600}")}\udc00`,
  "a control character behind non-ASCII": (size) => `xdstp://a/t/${fill(size, "é")}\n`,
  "question marks": (size) => `xdstp://a/t/x${fill(size, "?")}`,
  ampersands: (size) => `xdstp://a/t/x?${fill(size, "&")}`,
  "equals signs": (size) => `xdstp://a/t/x?${fill(size, "=")}`,
  "one key again and again": (size) => `xdstp://a/t/x?${fill(size, "k&")}`,
  "a canonical query and its last key once more": (size) =>
    `xdstp://a/t/x?${fill(size, "k=v")}&k=v`,
  "a long opaque name": (size) => fill(size, "xdstp"),
  hashes: (size) => `xdstp://a/t/x${fill(size, "#")}`,
  "commas in the fragment": (size) => `xdstp://a/t/x#${fill(size, ",")}`,
  "a long entry": (size) => `xdstp://a/t/x#entry=${fill(size, "%2C")}`,
  "a long id in eight levels of alt": (size) => nest(`file:///${fill(size, "x ")}`, 8),
  "escapes in eight levels of alt": (size) => nest(`file:///${fill(size / 16, "%25")}`, 8),
  "nine levels of alt": (size) => nest(`file:///${fill(size, "x")}`, 9),
  "alt without end": (size) => `file:///x#alt=${fill(size, "file:///x%23alt=")}`,
  "file with a long path": (size) => `file:///${fill(size, "/.")}`,
};

/**
 * Texts whose parameters have to be sorted: n log n comparisons, which is at most 1.67 times the
 * number per character at 256 times the size.
 */
const sorted: Readonly<Record<string, (size: number) => string>> = {
  "many keys in falling order": (size) =>
    `xdstp://a/t/x?${Array.from({ length: size / 8 }, (_, index) => number(size - index)).join("&")}`,
  "many keys in no order": (size) =>
    `xdstp://a/t/x?${Array.from({ length: size / 8 }, (_, index) => number((index * 7919) % size)).join("&")}`,
  "long keys that differ at the end": (size) =>
    `xdstp://a/t/x?${Array.from({ length: Math.sqrt(size) }, (_, index) => fill(Math.sqrt(size), "k") + number((index * 7919) % size)).join("&")}`,
};

const small = 2 ** 12;
const large = isLargeRun ? 2 ** 20 : 2 ** 15;

/**
 * Returns by how much the steps per character grow from the small size to the large one: 1 is
 * linear, 8 (at full size 256) quadratic.
 */
function growth(make: (size: number) => string): number {
  const steps = [small, large].map((size) => {
    const text = make(size);
    const counted = countSteps(() => {
      readAll(text);
    });
    expect(counted).toBeGreaterThan(0);
    return counted / text.length;
  });
  return (steps[1] ?? 0) / (steps[0] ?? 0);
}

describe(`reading hostile texts of 4 KiB and of ${large / 1024} KiB`, () => {
  it.each(Object.entries(hostile))("takes the same steps per character: %s", (_, make) => {
    expect(growth(make)).toBeLessThan(1.05);
  });

  it.each(Object.entries(sorted))(
    "takes n log n comparisons for the order of parameters, and the same steps per character else: %s",
    (_, make) => {
      expect(growth(make)).toBeLessThan(Math.log2(large) / Math.log2(small));
    },
  );

  it.each([
    "xdstp://a.example.com/envoy.config.cluster.v3.Cluster/ns/service",
    "xdstp://a.example.com/envoy.config.cluster.v3.Cluster?a=1&b=2&c=3",
  ])("goes once through a name that is canonical and has no escapes: %j", (text) => {
    expect(
      countSteps(() => {
        nameKey(text);
      }),
    ).toBeLessThan(1.5 * text.length);
  });

  it("would see a quadratic reader", () => {
    const quadratic = (text: string): void => {
      for (let index = 0; index < text.length; index += 64) text.indexOf("#", index);
    };
    const [few = 0, many = 0] = [2 ** 10, 2 ** 14].map((size) =>
      countSteps(() => {
        quadratic("x".repeat(size));
      }),
    );
    expect(many / few).toBeGreaterThan(200);
  });

  it("counts every character of a text at least once", () => {
    expect(
      countSteps(() => {
        parseName(`xdstp://a/t/${"x".repeat(1000)}`);
      }),
    ).toBeGreaterThan(1000);
  });
});
