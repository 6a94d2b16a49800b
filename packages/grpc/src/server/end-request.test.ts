import { describe, expect, test } from "vitest";

import { encodeGrpcMessage, statusTrailers } from "./end-request.ts";

describe("statusTrailers()", () => {
  test("leaves an empty text out", () => {
    expect(statusTrailers({ code: 0, message: "" })).toEqual({ "grpc-status": "0" });
    expect(statusTrailers({ code: 16, message: "who?" })).toEqual({
      "grpc-status": "16",
      "grpc-message": "who?",
    });
  });

  test.for([-1, 17, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "turns the unknown code %d into UNKNOWN",
    (code) => {
      expect(statusTrailers({ code, message: "" })).toEqual({ "grpc-status": "2" });
    },
  );
});

describe("encodeGrpcMessage()", () => {
  test.for([
    ["plain ~ text!", "plain ~ text!"],
    ["100 %", "100 %25"],
    ["a\r\nb\u0000", "a%0D%0Ab%00"],
    ["größer", "gr%C3%B6%C3%9Fer"],
    ["日本 🚀", "%E6%97%A5%E6%9C%AC %F0%9F%9A%80"],
    ["lone \ud800.", "lone %EF%BF%BD."],
  ] as const)("writes %j as %s", ([text, encoded]) => {
    expect(encodeGrpcMessage(text)).toBe(encoded);
  });

  test("cuts a long text at 2,048 bytes, never inside a character", () => {
    expect(encodeGrpcMessage("x".repeat(5000))).toBe("x".repeat(2048));
    expect(encodeGrpcMessage("ö".repeat(5000))).toBe("%C3%B6".repeat(341));
  });
});
