import { describe, expect, it } from "vitest";
import { uriVectors } from "../test/docs.ts";
import { errorOf, name } from "../test/parsed.ts";
import { printName } from "./print-name.ts";
import { parseName } from "./parse-name.ts";
import { isGlob } from "./glob-of.ts";

const vectors = uriVectors.filter(({ kind }) => kind === "name");

describe("parseName() on the vectors", () => {
  it("has vectors", () => {
    expect(vectors.filter(({ ok }) => ok).length).toBeGreaterThan(50);
    expect(vectors.filter(({ ok }) => !ok).length).toBeGreaterThan(10);
  });

  it.each(vectors.filter(({ ok }) => ok))(
    "reads $id: $input",
    ({ input, components, canonical }) => {
      const parsed = name(input);
      expect({
        ...parsed,
        contextParams: Object.fromEntries(parsed.contextParams),
        isGlob: isGlob(parsed),
      }).toEqual(components);
      if (canonical !== undefined) expect(printName(parsed)).toBe(canonical);
    },
  );

  it.each(vectors.filter(({ ok }) => !ok))("rejects $id: $input as $error", ({ input, error }) => {
    expect(errorOf(parseName(input)).code).toBe(error);
  });
});

describe("parseName()", () => {
  it.each([
    "",
    "*",
    "cluster-1",
    "udpa://a/t/x",
    "XDSTP://a/t/x",
    " xdstp://a/t/x",
    "https://a/t/x",
    "file:///x",
    "xdstp",
  ])(
    "takes %j as opaque: the scheme is xdstp: in lower case at the first character [N-01]",
    (text) => {
      expect(errorOf(parseName(text))).toMatchObject({
        code: "scheme",
        part: "scheme",
        position: 0,
      });
    },
  );

  it.each(["xdstp:", "xdstp:/", "xdstp:t/x", "xdstp:/a/t/x"])(
    "wants // behind the scheme: %j [N-02]",
    (text) => {
      expect(errorOf(parseName(text))).toMatchObject({ code: "authority-marker", position: 6 });
    },
  );

  it("cuts at the first ? and takes / and ? behind it as data [N-03]", () => {
    expect(name("xdstp://a/t/x?k=/v?w/*")).toMatchObject({
      id: "x",
      contextParams: new Map([["k", "/v?w/*"]]),
    });
    expect(errorOf(parseName("xdstp://a?x/t/y")).code).toBe("type-missing");
  });

  it("rejects every raw ASCII control character, wherever it stands, and takes it escaped [N-04]", () => {
    for (const code of [...Array(0x20).keys(), 0x7f]) {
      const control = String.fromCharCode(code);
      for (const text of [
        `xdstp://a${control}/t/x`,
        `xdstp://a/t${control}/x`,
        `xdstp://a/t/x${control}`,
        `xdstp://a/t/x?k=${control}`,
      ]) {
        expect(errorOf(parseName(text))).toMatchObject({
          code: "control-character",
          position: text.indexOf(control),
        });
      }
      expect(name(`xdstp://a/t/%${code.toString(16).padStart(2, "0")}`).id).toBe(control);
    }
  });

  it("takes every other raw character in authority, id, key and value [N-04]", () => {
    const raw = ' "<>\\^`{|}[]é\u{1F600}\u0080';
    expect(name(`xdstp://${raw}/t/${raw}?${raw}=${raw}`)).toEqual({
      scheme: "xdstp",
      authority: raw,
      resourceType: "t",
      id: raw,
      contextParams: new Map([[raw, raw]]),
    });
  });

  it("decodes once, after cutting, in either case of hex [N-05]", () => {
    expect(name("xdstp://a%2fb/t/%2541%2F%3f?%26%3D=%2526&a%62=1")).toMatchObject({
      authority: "a/b",
      id: "%41/?",
      contextParams: new Map([
        ["&=", "%26"],
        ["ab", "1"],
      ]),
    });
  });

  it.each([
    ["xdstp://a%/t", 9],
    ["xdstp://a/t/x%4", 13],
    ["xdstp://a/t/%41%zz", 15],
    ["xdstp://a/t/x?%g0=1", 14],
    ["xdstp://a/t/x?k=%", 16],
    ["xdstp://a/t/% 1", 12],
  ] as const)("rejects a broken escape where it stands: %j [N-05]", (text, position) => {
    expect(errorOf(parseName(text))).toMatchObject({ code: "percent-encoding", position });
  });

  it.each([
    ["a lone continuation byte", "xdstp://a/t/x%80", 13],
    ["an overlong form", "xdstp://a/t/%C0%AF", 12],
    ["an escaped surrogate", "xdstp://a/t/%ED%A0%80", 12],
    ["above U+10FFFF", "xdstp://a/t/%F4%90%80%80", 12],
    ["a sequence that is cut", "xdstp://a/t/%41%C3%A9%E2%82", 21],
    ["in the authority", "xdstp://%FF/t/x", 8],
    ["in a value", "xdstp://a/t/x?k=%FF", 16],
    ["an unpaired surrogate", "xdstp://a/t/x\ud800", 13],
    ["halves in the wrong order", "xdstp://a/t/\udc00\ud800", 12],
  ] as const)("rejects %s, which is not UTF-8 [N-06]", (_, text, position) => {
    expect(errorOf(parseName(text))).toMatchObject({ code: "utf8", position });
  });

  it("takes an empty authority, and keeps case, port and user of any other [N-07]", () => {
    expect(name("xdstp:///t/x").authority).toBe("");
    expect(name("xdstp://U@Foo:80/t/x").authority).toBe("U@Foo:80");
  });

  it.each([
    ["xdstp://", 8],
    ["xdstp://a", 9],
    ["xdstp://a/", 10],
    ["xdstp://a//x", 10],
    ["xdstp://a?k=v", 9],
    ["xdstp:///", 9],
  ] as const)("misses the type in %j [N-08]", (text, position) => {
    expect(errorOf(parseName(text))).toMatchObject({
      code: "type-missing",
      part: "type",
      position,
    });
  });

  it.each([
    ["xdstp://a/t%2Et/x", 11],
    ["xdstp://a/t t/x", 11],
    ["xdstp://a/*/x", 10],
    ["xdstp://a/té", 11],
    ["xdstp://a/t:x?k", 11],
  ] as const)(
    "rejects a type with other characters than letters, digits and . - _ ~: %j [N-08]",
    (text, position) => {
      expect(errorOf(parseName(text))).toMatchObject({
        code: "type-invalid",
        part: "type",
        position,
      });
    },
  );

  it("takes every character that a type may have, and any type at all [N-08]", () => {
    const type = "azAZ09.-_~";
    expect(name(`xdstp://a/${type}/x`).resourceType).toBe(type);
  });

  it.each([
    ["xdstp://a/t", ""],
    ["xdstp://a/t/", ""],
    ["xdstp://a/t//x", "/x"],
    ["xdstp://a/t/x/", "x/"],
    ["xdstp://a/t/x%2Fy", "x/y"],
  ])("reads the id of %j as %j [N-09]", (text, id) => {
    expect(name(text).id).toBe(id);
  });

  it("normalises nothing [N-10]", () => {
    expect(name("xdstp://A:80/t/a/../b/./%2e%2E//c").id).toBe("a/../b/./..//c");
    expect(name("xdstp://A:80/t/x").authority).toBe("A:80");
  });

  it.each([
    ["?", []],
    ["?&&", []],
    ["?a", [["a", ""]]],
    ["?a=", [["a", ""]]],
    ["?=v", [["", "v"]]],
    ["?=", [["", ""]]],
    [
      "?&a=1&&b=2&",
      [
        ["a", "1"],
        ["b", "2"],
      ],
    ],
    ["?a=b=c", [["a", "b=c"]]],
    ["?__proto__=1", [["__proto__", "1"]]],
  ] as const)("splits the query %j [N-11]", (query, params) => {
    expect([...name(`xdstp://a/t/x${query}`).contextParams]).toEqual(params);
  });

  it("counts the first value of a key that occurs twice, compared after decoding [N-12]", () => {
    expect([...name("xdstp://a/t/x?a=1&%61=2&b=3&a=4").contextParams]).toEqual([
      ["a", "1"],
      ["b", "3"],
    ]);
  });

  it("takes + and ; as they are, in the path and in the query [N-13]", () => {
    expect(name("xdstp://a/t/x+y;z?k+=a+b;c")).toMatchObject({
      id: "x+y;z",
      contextParams: new Map([["k+", "a+b;c"]]),
    });
  });

  it.each([
    "xdstp://a/t/x#entry=e",
    "xdstp://a/t/x#",
    "xdstp://a/t/x?k=v#bogus",
    "xdstp://a/t#alt=xdstp://b/t/x",
  ])("rejects a fragment: %j [N-18]", (text) => {
    expect(errorOf(parseName(text))).toMatchObject({
      code: "fragment-in-name",
      part: "directives",
      position: text.indexOf("#"),
    });
  });

  it("sets no limit of length: a name of 1 MiB [N-21]", () => {
    const id = "x/".repeat(2 ** 19);
    expect(name(`xdstp://a/t/${id}`).id).toBe(id);
  });
});
