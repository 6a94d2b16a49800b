import { describe, expect, it } from "vitest";
import { sectionOfNames } from "../test/docs.ts";
import { defaultListenerTemplate, expandTemplate, isTemplateOf } from "./bootstrap-template.ts";
import { nameKey } from "./name-key.ts";

/** The rows of the table of section 11. */
const rows = [...sectionOfNames(11).matchAll(/^\| `(.+)` \| `(.+)` \| `(.+)` \|$/gm)].map(
  ([, template = "", target = "", result = ""]) => ({ template, target, result }),
);

describe("expandTemplate()", () => {
  it("has the rows of the rule book", () => {
    expect(rows).toHaveLength(6);
  });

  it.each(rows)("$template for $target [N-92]", ({ template, target, result }) => {
    expect(expandTemplate(template, target)).toBe(result);
  });

  it("gives what grpc-js-xds gives, which escapes more, one key [N-90]", () => {
    expect(nameKey(expandTemplate("xdstp://a/t/%s", "u@0.0.0.0:8080"))).toBe(
      nameKey("xdstp://a/t/u%400.0.0.0%3A8080"),
    );
  });

  it("replaces any number of %s and leaves other % sequences as they are [N-92]", () => {
    expect(expandTemplate("%s/%d/%%/%s%2F", "x")).toBe("x/%d/%%/x%2F");
    expect(expandTemplate("xdstp://a/t/%s?k=%s&l=%20", "a b%s")).toBe(
      "xdstp://a/t/a%20b%25s?k=a%20b%25s&l=%20",
    );
  });

  it.each(["$&", "$1", "$$", "$`"])("takes the target %j literally [N-92]", (target) => {
    expect(expandTemplate("x/%s", target)).toBe(`x/${target}`);
  });
});

describe("defaultListenerTemplate()", () => {
  it.each([
    ["authority.com", "authority.com"],
    ["[::1]:80", "%5B::1%5D:80"],
    ["a/b", "a%2Fb"],
    ["a%s", "a%25s"],
    ["", ""],
  ])("of %j [N-91]", (authority, escaped) => {
    expect(defaultListenerTemplate(authority)).toBe(
      `xdstp://${escaped}/envoy.config.listener.v3.Listener/%s`,
    );
    expect(isTemplateOf(defaultListenerTemplate(authority), authority)).toBe(true);
  });
});

describe("isTemplateOf()", () => {
  it.each([
    ["xdstp://a.com/t/%s", "a.com"],
    ["xdstp://a%2Fb/%s", "a/b"],
    ["xdstp://[::1]/t/%s", "[::1]"],
    ["xdstp:///t/%s", ""],
  ])("takes %j for %j [N-91]", (template, authority) => {
    expect(isTemplateOf(template, authority)).toBe(true);
  });

  it.each([
    ["xdstp://b.com/t/%s", "a.com"],
    ["xdstp://a.com", "a.com"],
    ["xdstp:a.com/", "a.com"],
    ["/t/%s", ""],
    ["xdstp://a.com.evil/t/%s", "a.com"],
    ["xdstp://%s/t", "%s"],
    ["XDSTP://a.com/t/%s", "a.com"],
  ])("rejects %j for %j [N-91]", (template, authority) => {
    expect(isTemplateOf(template, authority)).toBe(false);
  });
});
