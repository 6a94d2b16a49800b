import { describe, expect, it } from "vitest";
import { readHttpAnswer } from "./read-http-answer.ts";

const whole = Buffer.from(
  "HTTP/1.1 200 OK\r\nXds-Version: v%201\r\nxds-position: a.1\r\nContent-Length: 3\r\n\r\nabc",
);

describe("readHttpAnswer()", () => {
  it("reads the status, the version and the position", () => {
    expect(readHttpAnswer(whole)).toEqual({ status: 200, version: "v%201", position: "a.1" });
  });

  it.each([0, 10, whole.length - 4, whole.length - 1])("waits after %i bytes", (length) => {
    expect(readHttpAnswer(whole.subarray(0, length))).toBeUndefined();
  });
});
