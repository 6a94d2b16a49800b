import type { Fault } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { defaultClientLimits } from "./client-limits.ts";
import type { ReceivedResource, ReceivedResponse } from "./received.ts";
import { resourceFault, responseFault } from "./faults.ts";

const T = "type.googleapis.com/t.T";
const payload = { typeUrl: T, value: Buffer.of() };

function fault(resource: Partial<ReceivedResource>): Fault | undefined {
  const whole = { name: "a", key: resource.name ?? "a", version: "1", payload, ...resource };
  return resourceFault(whole, T, defaultClientLimits);
}

describe("resourceFault()", () => {
  it.each<readonly [string, Partial<ReceivedResource>]>([
    ["it is broken", { fault: "it is broken" }],
    ["B-WRAP-4", { name: "" }],
    ["C-LIM-7", { name: "a".repeat(4_097) }],
    ["C-LIM-7", { version: "1".repeat(4_097) }],
    ["C-LIM-7", { aliases: Array.from({ length: 1_001 }, () => "b") }],
    ["not an xdstp name", { name: "xdstp:what" }],
    ["N-50", { name: "*" }],
    ["N-50", { name: "xdstp://a/t.T/*" }],
    ["B-TYPE-5", { name: "xdstp://a/t.Other/x" }],
    ["C-TYPE-4", { payload: { typeUrl: "type.googleapis.com/t.Other", value: Buffer.of() } }],
  ])("%s", (text, resource) => {
    expect(Object.values(fault(resource) ?? {}).join(" ")).toContain(text);
  });

  it.each<readonly [string, Partial<ReceivedResource>]>([
    ["an opaque name", {}],
    ["an xdstp name of the type", { name: "xdstp://a/t.T/x" }],
    [
      "a redirect [C-TYPE-4]",
      {
        payload: { typeUrl: "type.googleapis.com/xds.core.v3.ResourceLocator", value: Buffer.of() },
      },
    ],
    [
      "a list collection asked for by its name [C-TYPE-4]",
      {
        name: "xdstp://a/t.TCollection/x",
        payload: { typeUrl: `${T}Collection`, value: Buffer.of() },
      },
    ],
  ])("none: %s", (_, resource) => {
    expect(fault(resource)).toBeUndefined();
  });
});

describe("responseFault()", () => {
  const a = { name: "a", key: "a", version: "1", payload };

  it.each<readonly [string, Partial<ReceivedResponse>, number]>([
    ["C-DUP-2", { resources: [a, a] }, 10],
    ["C-DUP-2", { resources: [a], removed: [{ name: "a" }] }, 10],
    ["C-LIM-7", { resources: [a], removed: [{ name: "b" }] }, 1],
  ])("names the rule %s next to the text", (rule, parts, responseEntries) => {
    const response = {
      typeUrl: T,
      nonce: "1",
      version: "1",
      controlPlane: "",
      canary: false,
      resources: [],
      removed: [],
      errors: [],
      ...parts,
    };
    const found = responseFault(response, { ...defaultClientLimits, responseEntries });
    expect(found?.rule).toBe(rule);
    expect(found?.text).not.toContain(rule);
  });
});
