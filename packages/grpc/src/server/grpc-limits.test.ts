import { XdsError } from "@xdstp/core";
import { describe, expect, test } from "vitest";
import { defaultGrpcLimits, resolveGrpcLimits } from "./grpc-limits.ts";

describe("resolveGrpcLimits()", () => {
  test("fills in the defaults", () => {
    expect(resolveGrpcLimits()).toEqual(defaultGrpcLimits);
    expect(resolveGrpcLimits({ messageMs: 5 })).toEqual({ ...defaultGrpcLimits, messageMs: 5 });
  });

  test.for([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 0x8000_0000])(
    "rejects %d and names the limit [S-LIM-1]",
    (value) => {
      const resolve = (): unknown => resolveGrpcLimits({ maxMessageBytes: value });
      expect(resolve).toThrow(XdsError);
      expect(resolve).toThrow(`limits.maxMessageBytes is ${String(value)}`);
    },
  );

  test("rejects a limit that does not exist", () => {
    expect(() => resolveGrpcLimits({ maxMesageBytes: 1 } as never)).toThrow(
      "limits.maxMesageBytes does not exist",
    );
  });
});
