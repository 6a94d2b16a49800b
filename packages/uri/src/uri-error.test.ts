import { describe, expect, it } from "vitest";

import { sectionOfNames } from "../test/docs.ts";
import { errorOf } from "../test/parsed.ts";
import { fault, type UriError, uriErrorOf, type UriErrorCode } from "./uri-error.ts";
import { parseLocator } from "./parse-locator.ts";
import { parseName } from "./parse-name.ts";

/** A text for each code of section 9, and the position of the error. */
const cases = {
  scheme: [parseName, "xdstp//a/t", "scheme", 0],
  "authority-marker": [parseName, "xdstp:a/t", "authority", 6],
  authority: [parseLocator, "http:///t", "authority", 7],
  "type-missing": [parseName, "xdstp://a//x", "type", 10],
  "type-invalid": [parseName, "xdstp://a/t!/x", "type", 11],
  "percent-encoding": [parseName, "xdstp://a/t/x%2", "id", 13],
  utf8: [parseName, "xdstp://a/t?k=%C3", "context", 14],
  "control-character": [parseName, "xdstp://a/t/\u007F", "text", 12],
  "fragment-in-name": [parseName, "xdstp://a/t#entry=e", "directives", 11],
  "directive-unknown": [parseLocator, "xdstp://a/t#entry=e,x", "directives", 20],
  "directive-duplicate": [parseLocator, "xdstp://a/t#entry=e,entry=e", "directives", 20],
  "directive-empty": [parseLocator, "xdstp://a/t#entry=", "directives", 12],
  "directive-value": [parseLocator, "xdstp://a/t#alt=b", "directives", 16],
  "query-in-file": [parseLocator, "file:///a?", "context", 9],
} as const;

/** Returns the innermost error. */
function rootOf(error: UriError): UriError {
  return error.cause === undefined ? error : rootOf(error.cause);
}

describe("UriError", () => {
  it("has a case for every code of section 9", () => {
    const text = sectionOfNames(9).split("The text of an error")[0] ?? "";
    const codes = [...text.matchAll(/`([\w-]+)`/g)].map((match) => match[1]);
    expect([...Object.keys(cases), "too-deep"].sort()).toEqual(codes.sort());
  });

  it.each(Object.entries(cases))(
    "says %s, which part and where",
    (code, [parse, text, part, position]) => {
      expect(errorOf(parse(text))).toMatchObject({ code, part, position });
    },
  );

  it("says too-deep as a cause", () => {
    let text = "file:///x";
    for (let level = 0; level < 9; level++)
      text = `file:///x#alt=${text.replaceAll("%", "%25").replaceAll("#", "%23")}`;
    expect(rootOf(errorOf(parseLocator(text))).code).toBe("too-deep");
  });

  it.each([
    ["http:///t", "N-20"],
    ["file://a/x", "N-19"],
    ["xdstp://a/t#entry=", "N-16"],
    ["xdstp://a/t#alt=", "N-17"],
  ])("says of %s which of two rules it breaks", (text, rule) => {
    expect(errorOf(parseLocator(text)).rule).toBe(rule);
  });

  it("is a plain object", () => {
    const error = errorOf(parseName("foo"));
    expect(Object.getPrototypeOf(error)).toBe(Object.prototype);
    expect(JSON.parse(JSON.stringify(error))).toEqual(error);
  });

  it("names the code, the input and the way out in its message, and the rule next to it", () => {
    const { message, rule } = errorOf(parseName("xdstp://foo"));
    expect(message).toBe(
      '[type-missing] at 11 of "xdstp://foo": no resource type in the path: write //authority/type/id',
    );
    expect(rule).toBe("N-08");
  });

  it("quotes the input in printable ASCII, cut to 100 characters", () => {
    const start = 'xdstp:\u001B[2J\n"\\é\u202E\u007F\ud800';
    const { message } = errorOf(parseName(start + "x".repeat(1000)));
    expect(message).toMatch(/^[ -~]*$/);
    expect(message).toContain(
      String.raw`"xdstp:\u001b[2J\n\"\\\u00e9\u202e\u007f\ud800${"x".repeat(100 - start.length)}...": `,
    );
  });

  it("says what Envoy says, where people may compare", () => {
    expect(errorOf(parseName("xdstp://foo")).message).toContain("resource type");
    expect(errorOf(parseLocator("xdstp://foo/t#bar=baz")).message).toContain(
      "unknown fragment component",
    );
  });
});

/** The rule of each code, where the error does not have another one. */
const rules: Readonly<Record<UriErrorCode, string>> = {
  scheme: "N-01",
  "authority-marker": "N-02",
  authority: "N-20",
  "type-missing": "N-08",
  "type-invalid": "N-08",
  "percent-encoding": "N-05",
  utf8: "N-06",
  "control-character": "N-04",
  "fragment-in-name": "N-18",
  "directive-unknown": "N-14",
  "directive-duplicate": "N-15",
  "directive-empty": "N-16",
  "directive-value": "N-17",
  "query-in-file": "N-19",
  "too-deep": "N-17",
  "reserved-key": "N-60",
  "node-field": "N-62",
};

describe("uriErrorOf()", () => {
  it.each(Object.entries(rules) as [UriErrorCode, string][])(
    "says of %s where it is and what to do, by rule %s",
    (code, rule) => {
      const { message, rule: broken } = uriErrorOf(fault(code, "id", "xdstp://a/b", 3));
      expect(message).toMatch(/^\[[a-z0-9-]+\] at 3 of "xdstp:\/\/a\/b": .{10,}/);
      expect(broken).toBe(rule);
      expect(message).not.toMatch(/N-\d/);
    },
  );

  it("quotes a text of a hundred characters whole, and cuts a longer one", () => {
    const quoted = (length: number): string =>
      uriErrorOf(fault("scheme", "scheme", "x".repeat(length), 0)).message;
    expect(quoted(100)).toContain(`"${"x".repeat(100)}"`);
    expect(quoted(101)).toContain(`"${"x".repeat(100)}..."`);
  });
});
