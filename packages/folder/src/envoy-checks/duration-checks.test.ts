import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";
import { positiveDurations } from "./duration-checks.ts";

const registry = envoyRegistry();
const policy = "envoy.config.route.v3.RetryPolicy";
const slowStart = "envoy.extensions.load_balancing_policies.common.v3.SlowStartConfig";

describe("durations that Envoy does not take below zero", () => {
  it("are fields of the API", () => {
    for (const [type, fields] of Object.entries(positiveDurations))
      for (const name of fields) {
        const field = registry.getMessage(type)?.fields.find((one) => one.name === name);
        expect([type, name, field?.message?.typeName]).toEqual([
          type,
          name,
          "google.protobuf.Duration",
        ]);
      }
  });

  it.each(["-1s", "-0.001s"])("finds %s", (value) => {
    expect(envoyRejections(policy, { per_try_timeout: value })).toEqual([
      "bad-value per_try_timeout: must not be negative",
    ]);
  });

  it("finds each of several in one message", () => {
    const json = { max_stream_duration: "-1s", grpc_timeout_header_max: "-2s" };
    expect(envoyRejections("envoy.config.route.v3.RouteAction.MaxStreamDuration", json)).toEqual([
      "bad-value grpc_timeout_header_max: must not be negative",
      "bad-value max_stream_duration: must not be negative",
    ]);
  });

  it.each([
    [policy, { per_try_timeout: "0s" }],
    [policy, { per_try_timeout: "1s" }],
    [policy, {}],
    // Envoy takes it in a typed policy.
    [slowStart, { slow_start_window: "-1s" }],
  ])("takes %s %j", (type, json) => {
    expect(envoyRejections(type, json)).toEqual([]);
  });
});
