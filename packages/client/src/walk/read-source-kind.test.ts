import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";

import { readSourceKind } from "./read-source-kind.ts";

const encode = (json: object): Uint8Array =>
  anyFromJson(
    { "@type": "type.googleapis.com/envoy.config.core.v3.ConfigSource", ...json },
    envoyRegistry(),
  ).value;

describe("readSourceKind()", () => {
  it.each([
    [{}, "ads", []],
    [{ ads: {}, authorities: [{ name: "a" }, { name: "" }] }, "ads", ["a", ""]],
    [
      {
        self: { transport_api_version: "V3" },
        resource_api_version: "V3",
        initial_fetch_timeout: "3s",
      },
      "self",
      [],
    ],
    [{ api_config_source: { api_type: "GRPC" }, authorities: [{ name: "ä" }] }, "other", ["ä"]],
    [{ path: "/x" }, "other", []],
    [{ path_config_source: { path: "/x" } }, "other", []],
  ])("reads %j [C-AUTH-6]", (json, kind, authorities) => {
    expect(readSourceKind(encode(json))).toEqual({ kind, authorities });
  });

  it("never throws", () => {
    const whole = encode({ self: {}, authorities: [{ name: "abc" }] });
    for (let at = 0; at < whole.length; at++)
      for (const byte of [0, 0x0b, 0x7f, 0xff])
        expect(readSourceKind(whole.with(at, byte)).authorities.length).toBeLessThan(2);
  });
});
