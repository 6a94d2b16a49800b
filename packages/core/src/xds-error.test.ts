import { describe, expect, it } from "vitest";
import { XdsError } from "./xds-error.ts";

describe("XdsError", () => {
  it("begins its message with the code, and keeps the text without it", () => {
    const error = new XdsError("NOT_FOUND", "no such cluster", {
      resource: "a",
      typeUrl: "t",
      nodeId: "n",
      nonce: "7",
    });
    expect(error.message).toBe("[NOT_FOUND] no such cluster");
    expect(error.text).toBe("no such cluster");
    expect(error.code).toBe("NOT_FOUND");
    expect(error.name).toBe("XdsError");
    expect(error.context).toEqual({ resource: "a", typeUrl: "t", nodeId: "n", nonce: "7" });
    expect(error).toBeInstanceOf(Error);
    expect(error.stack).toContain("[NOT_FOUND] no such cluster");
  });

  it("has a cause only where one was given", () => {
    expect(new XdsError("INTERNAL", "x", { cause: 0 }).cause).toBe(0);
    expect("cause" in new XdsError("INTERNAL", "x", { cause: undefined })).toBe(true);
    expect("cause" in new XdsError("INTERNAL", "x")).toBe(false);
    expect(new XdsError("INTERNAL", "x").context).toEqual({});
  });

  it("recognises the errors of another installed copy", () => {
    const foreign = Object.assign(new Error("[INTERNAL] x"), {
      [Symbol.for("@xdstp/XdsError")]: true,
    });
    expect(foreign).toBeInstanceOf(XdsError);
  });

  it.each([new Error("x"), {}, null, undefined, "x", 7])("does not recognise %s", (value) => {
    expect(value instanceof XdsError).toBe(false);
  });
});

describe("XdsError.from()", () => {
  it("gives back what is one already", () => {
    const error = new XdsError("ABORTED", "x");
    expect(XdsError.from(error)).toBe(error);
  });

  it("makes INTERNAL of another error, with its text and as its cause", () => {
    const cause = new TypeError("not a function");
    const error = XdsError.from(cause);
    expect(error).toMatchObject({
      code: "INTERNAL",
      text: "not a function",
      message: "[INTERNAL] not a function",
    });
    expect(error.cause).toBe(cause);
  });

  it.each([
    ["text", "text"],
    [7, "7"],
    [null, "null"],
    [undefined, "undefined"],
  ])("makes INTERNAL of %j", (value, text) => {
    expect(XdsError.from(value)).toMatchObject({ code: "INTERNAL", text });
  });
});
