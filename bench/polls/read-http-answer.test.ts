import { describe, expect, it } from "vitest";
import { readHttpAnswer } from "./read-http-answer.ts";

const whole = Buffer.from(
  "HTTP/1.1 200 OK\r\nXds-Version: v%201\r\nxds-position: a.1\r\nContent-Length: 3\r\n\r\nabc",
);

describe("readHttpAnswer()", () => {
  it("reads the status, headers and the body", () => {
    const answer = readHttpAnswer(whole);
    expect(answer?.status).toBe(200);
    expect(answer?.header("xds-version")).toBe("v%201");
    expect(answer?.header("etag")).toBe("");
    expect(answer?.body.toString()).toBe("abc");
  });

  it.each([0, 10, whole.length - 4, whole.length - 1])("waits after %i bytes", (length) => {
    expect(readHttpAnswer(whole.subarray(0, length))).toBeUndefined();
  });

  it("reads an answer without a body", () => {
    expect(readHttpAnswer(Buffer.from("HTTP/1.1 304 Not Modified\r\n\r\n"))?.status).toBe(304);
  });
});
