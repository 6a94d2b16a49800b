import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { anyLocator, anyName } from "../test/arbitraries.ts";
import { errorOf, locator, name, valueOf } from "../test/parsed.ts";
import { property } from "../test/scale.ts";
import {
  locatorFromMessage,
  messageFromLocator,
  messageFromName,
  nameFromMessage,
  type ResourceLocatorMessage,
  type ResourceNameMessage,
} from "./locator-message.ts";

/** Returns a message with `levels` alt directives, each inside the one before. */
function nested(levels: number): ResourceLocatorMessage {
  return levels === 0
    ? { resourceType: "t" }
    : { resourceType: "t", directives: [{ alt: nested(levels - 1) }] };
}

describe("messageFromLocator() and messageFromName()", () => {
  it("hold decoded parts in the fields of ResourceLocator [N-80]", () => {
    expect(
      messageFromLocator(locator("xdstp://a%2Fb/t/x%20?k=%26#entry=e%2C,alt=http://h/t")),
    ).toEqual({
      scheme: "XDSTP",
      authority: "a/b",
      resourceType: "t",
      id: "x ",
      exactContext: { params: { k: "&" } },
      directives: [
        { entry: "e," },
        { alt: { scheme: "HTTP", authority: "h", resourceType: "t", id: "", directives: [] } },
      ],
    });
    expect(messageFromLocator(locator("file:///a%20b"))).toEqual({
      scheme: "FILE",
      id: "a b",
      directives: [],
    });
  });

  it("hold decoded parts in the fields of ResourceName [N-80]", () => {
    expect(messageFromName(name("xdstp://a/t/x%20?k=v"))).toEqual({
      id: "x ",
      authority: "a",
      resourceType: "t",
      context: { params: { k: "v" } },
    });
    expect(messageFromName(name("xdstp://a/t"))).toEqual({
      id: "",
      authority: "a",
      resourceType: "t",
    });
  });

  it("keep a parameter called __proto__ [N-80]", () => {
    const parsed = name("xdstp://a/t/x?__proto__=v");
    expect(
      valueOf(
        nameFromMessage(JSON.parse(JSON.stringify(messageFromName(parsed))) as ResourceNameMessage),
      ),
    ).toEqual(parsed);
  });

  it("come back as what they were, also through JSON [N-80]", () => {
    fc.assert(
      fc.property(anyLocator(2), anyName, (any, parts) => {
        const message = JSON.parse(
          JSON.stringify(messageFromLocator(any)),
        ) as ResourceLocatorMessage;
        expect(locatorFromMessage(message)).toEqual({ ok: true, value: any });
        expect(nameFromMessage(messageFromName(parts))).toEqual({ ok: true, value: parts });
      }),
      property,
    );
  });
});

describe("locatorFromMessage()", () => {
  it.each([
    ["XDSTP", "xdstp"],
    [0, "xdstp"],
    [undefined, "xdstp"],
    ["HTTP", "http"],
    [1, "http"],
    ["FILE", "file"],
    [2, "file"],
  ] as const)("reads the scheme %j as %s [N-80]", (scheme, read) => {
    const authority = read === "file" ? "" : "a";
    expect(
      valueOf(
        locatorFromMessage({
          ...(scheme !== undefined && { scheme }),
          authority,
          resourceType: "t",
          id: "x",
        }),
      ),
    ).toMatchObject({ scheme: read, id: "x" });
  });

  it("takes no context and an empty context as equal [N-80]", () => {
    const expected = locatorFromMessage("xdstp:///t");
    for (const context of [{}, { exactContext: {} }, { exactContext: { params: {} } }]) {
      expect(locatorFromMessage({ resourceType: "t", ...context })).toEqual(expected);
      expect(
        nameFromMessage({
          resourceType: "t",
          ...(context.exactContext && { context: context.exactContext }),
        }),
      ).toMatchObject({ ok: true });
    }
  });

  it("reads the string form too, and the message is what is emitted [N-82]", () => {
    const text = "xdstp://some-authority/envoy.config.listener.v3.Listener/baz#entry=e";
    expect(locatorFromMessage(text)).toEqual({ ok: true, value: locator(text) });
    expect(messageFromLocator(locator(text))).toBeTypeOf("object");
    expect(errorOf(locatorFromMessage("baz")).code).toBe("scheme");
  });

  it("wants a resource type, but not of a file, where it is dropped [N-83]", () => {
    expect(errorOf(locatorFromMessage({ authority: "a", id: "x" })).code).toBe("type-missing");
    expect(valueOf(locatorFromMessage({ scheme: "FILE", id: "x" }))).toEqual({
      scheme: "file",
      id: "x",
      directives: [],
    });
    expect(valueOf(locatorFromMessage({ scheme: "FILE", id: "x", resourceType: "t" }))).toEqual({
      scheme: "file",
      id: "x",
      directives: [],
    });
  });

  it.each([
    ["scheme", { scheme: 7 as 0, resourceType: "t" }],
    ["scheme", { scheme: "HTTPS" as "HTTP", resourceType: "t" }],
    ["type-missing", {}],
    ["type-invalid", { resourceType: "a/b" }],
    ["type-invalid", { resourceType: "t%" }],
    ["authority", { scheme: "HTTP", resourceType: "t" }],
    ["authority", { scheme: "FILE", authority: "host", id: "x" }],
    ["query-in-file", { scheme: "FILE", id: "x", exactContext: { params: { k: "v" } } }],
    ["utf8", { resourceType: "t", authority: "\ud800" }],
    ["utf8", { resourceType: "t", id: "\ud800" }],
    ["utf8", { scheme: "FILE", id: "\udc00" }],
    ["utf8", { resourceType: "t", exactContext: { params: { "\ud800": "" } } }],
    ["utf8", { resourceType: "t", exactContext: { params: { k: "\ud800" } } }],
    ["utf8", { resourceType: "t", directives: [{ entry: "\ud800" }] }],
    ["directive-empty", { resourceType: "t", directives: [{ entry: "" }] }],
    ["directive-unknown", { resourceType: "t", directives: [{}] }],
    [
      "directive-unknown",
      { resourceType: "t", directives: [{ entry: "e", alt: { resourceType: "t" } }] },
    ],
    ["directive-duplicate", { resourceType: "t", directives: [{ entry: "e" }, { entry: "f" }] }],
    ["directive-value", { resourceType: "t", directives: [{ alt: {} }] }],
  ] as const satisfies readonly (readonly [string, ResourceLocatorMessage])[])(
    "rejects as %s what no text could say: %j [N-80]",
    (code, message) => {
      expect(errorOf(locatorFromMessage(message)).code).toBe(code);
    },
  );

  it("rejects a bad name with the same codes [N-80]", () => {
    expect(errorOf(nameFromMessage({})).code).toBe("type-missing");
    expect(
      errorOf(nameFromMessage({ resourceType: "t", context: { params: { k: "\ud800" } } })).code,
    ).toBe("utf8");
  });

  it("takes 8 levels of alt and rejects the ninth, so a circle of messages too [N-17]", () => {
    expect(locatorFromMessage(nested(8)).ok).toBe(true);
    let error = errorOf(locatorFromMessage(nested(9)));
    while (error.cause !== undefined) error = error.cause;
    expect(error.code).toBe("too-deep");
    const circle: { resourceType: string; directives: { alt: ResourceLocatorMessage }[] } = {
      resourceType: "t",
      directives: [],
    };
    circle.directives.push({ alt: circle });
    expect(errorOf(locatorFromMessage(circle)).code).toBe("directive-value");
  });
});
