import fc from "fast-check";
import type { Directive, Locator, XdstpName } from "../src/index.ts";

const oneOf = (characters: string): fc.Arbitrary<string> =>
  fc.constantFrom(...Array.from(characters));

/** Any character of Unicode. The "binary" unit of fast-check takes a second to build. */
const character = fc
  .integer({ min: 0, max: 0x10f7ff })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));

/** Well-formed strings with many characters that have a meaning in a URI. */
const text = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.string({ unit: oneOf("ab/*%?#&=,;+:@[] ~.é\u{1F600}\uFFFD\n"), maxLength: 8 }),
  },
  { weight: 1, arbitrary: fc.string({ unit: character, maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom("", "*", "ns/*", "__proto__", "xds.x", "1", "0") },
);
const resourceType = fc.string({ unit: oneOf("abT.-_~9"), minLength: 1, maxLength: 6 });
const contextParams = fc
  .array(fc.tuple(text, text), { maxLength: 4 })
  .map((entries) => new Map(entries));
const parts = { authority: text, resourceType, id: text, contextParams };
const httpAuthority = text.filter((authority) => authority !== "");

/** Any valid name. */
export const anyName: fc.Arbitrary<XdstpName> = fc.record({
  scheme: fc.constant("xdstp"),
  ...parts,
});

/** Any locator with at most `depth` levels of `alt`. */
export function anyLocator(depth: number): fc.Arbitrary<Locator> {
  const directives = anyDirectives(depth);
  return fc.oneof(
    fc.record({ scheme: fc.constant("xdstp" as const), ...parts, directives }),
    fc.record({
      scheme: fc.constant("http" as const),
      ...parts,
      authority: httpAuthority,
      directives,
    }),
    fc.record({ scheme: fc.constant("file" as const), id: text, directives }),
  );
}

function anyDirectives(depth: number): fc.Arbitrary<readonly Directive[]> {
  const entry = fc.record({
    kind: fc.constant("entry" as const),
    entry: text.filter((value) => value !== ""),
  });
  if (depth === 0) return fc.array(entry, { maxLength: 1 });
  const alt = fc.record({ kind: fc.constant("alt" as const), locator: anyLocator(depth - 1) });
  return fc.oneof(
    fc.constant([]),
    entry.map((one) => [one]),
    alt.map((one) => [one]),
    fc.tuple(entry, alt),
    fc.tuple(alt, entry),
  );
}

/** Texts that are names or nearly so: pieces of the grammar in any order, and any UTF-16 units. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(
        fc.constantFrom(
          "/",
          "t",
          "x",
          "*",
          "?",
          "a=1",
          "b=2",
          "&",
          "=",
          "%41",
          "%2f",
          "%2A",
          "%",
          "%ff",
          "é",
          "[",
          "~",
          "+",
          "\ud800",
          " ",
          "#",
          "alt=",
          "entry=",
          ",",
        ),
        { maxLength: 14 },
      )
      .map((pieces) => `xdstp://${pieces.join("")}`),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(
        fc.constantFrom(
          "xdstp:",
          "http:",
          "file:",
          "//",
          "a/t/x",
          "#alt=",
          "%23alt=",
          "?k",
          "\n",
          "\udfff",
        ),
        { maxLength: 8 },
      )
      .map((pieces) => pieces.join("")),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
      .map((units) => String.fromCharCode(...units)),
  },
);

/**
 * A name and a spelling of it: any characters escaped, parameters in any order, some of them
 * repeated later with other values.
 */
export const spelledName: fc.Arbitrary<readonly [XdstpName, string]> = fc
  .tuple(anyName, fc.uint8Array({ minLength: 16, maxLength: 16 }))
  .map(([name, choices]) => {
    let taken = 0;
    const number = (): number => choices[taken++ % choices.length] ?? 0;
    return [name, spell(name, () => number() % 2 === 0, number)];
  });

function spell(name: XdstpName, coin: () => boolean, number: () => number): string {
  const part = (value: string, mustEscape: string): string => spellPart(value, mustEscape, coin);
  const pairs = [...name.contextParams].map(
    ([key, value]) => `${part(key, "#&=%")}=${part(value, "#&%")}`,
  );
  const shuffled = pairs
    .map((pair) => [number(), pair] as const)
    .sort(([a], [b]) => a - b)
    .map(([, pair]) => pair);
  const repeated = [...name.contextParams.keys()]
    .filter(coin)
    .map((key) => `${part(key, "#&=%")}=later`);
  const query = [...shuffled, ...repeated].join(coin() ? "&" : "&&");
  const id = name.id === "" && coin() ? "" : `/${part(name.id, "#?%")}`;
  return `xdstp://${part(name.authority, "/#?%")}/${name.resourceType}${id}${query === "" && coin() ? "" : `?${query}`}`;
}

function spellPart(value: string, mustEscape: string, coin: () => boolean): string {
  const escaped = (character: string): boolean =>
    mustEscape.includes(character) || character < " " || character === "\u007F" || coin();
  return Array.from(value, (character) =>
    escaped(character) ? escape(character, coin()) : character,
  ).join("");
}

function escape(character: string, upper: boolean): string {
  const bytes = Array.from(
    new TextEncoder().encode(character),
    (byte) => `%${byte.toString(16).padStart(2, "0")}`,
  ).join("");
  return upper ? bytes.toUpperCase() : bytes;
}
