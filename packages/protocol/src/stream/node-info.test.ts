import type { NodeInfo } from "@xdstp/core";
import { create } from "@bufbuild/protobuf";
import { NodeSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { checkNode, nodeInfoOf, takesWrapped } from "./node-info.ts";

const info = (init: Parameters<typeof create<typeof NodeSchema>>[1]): NodeInfo =>
  nodeInfoOf(create(NodeSchema, init));

describe("nodeInfoOf()", () => {
  it("keeps what is shown and decided by", () => {
    const node = info({
      id: "n",
      cluster: "c",
      userAgentName: "envoy",
      locality: { region: "r", zone: "z", subZone: "s" },
      clientFeatures: ["f"],
      userAgentVersionType: { case: "userAgentVersion", value: "1.40.0" },
    });
    expect(node).toEqual({
      id: "n",
      cluster: "c",
      userAgentName: "envoy",
      userAgentVersion: "1.40.0",
      locality: "r/z/s",
      clientFeatures: ["f"],
    });
  });

  it("reads a build version as text", () => {
    const version = { version: { majorNumber: 1, minorNumber: 40, patch: 2 } };
    expect(
      info({ userAgentVersionType: { case: "userAgentBuildVersion", value: version } })
        .userAgentVersion,
    ).toBe("1.40.2");
    expect(
      info({ userAgentVersionType: { case: "userAgentBuildVersion", value: {} } }).userAgentVersion,
    ).toBe("");
  });

  it.each([
    [{}, ""],
    [{ region: "r" }, "r"],
    [{ region: "r", zone: "z" }, "r/z"],
    [{ zone: "z" }, "/z"],
  ])("writes the locality %j as %j", (locality, text) => {
    expect(info({ locality }).locality).toBe(text);
  });

  it("takes an empty node", () => {
    expect(info({})).toEqual({
      id: "",
      cluster: "",
      userAgentName: "",
      userAgentVersion: "",
      locality: "",
      clientFeatures: [],
    });
  });
});

describe("takesWrapped()", () => {
  it.each([
    ["xds.config.supports-resource-in-sotw", true],
    ["xds.config.resource-in-sotw", true],
    ["xds.config.supports-resource-ttl", false],
  ])("%s: %s", (feature, expected) => {
    expect(takesWrapped(info({ clientFeatures: ["other", feature] }))).toBe(expected);
  });

  it("is false without a node", () => {
    expect(takesWrapped(undefined)).toBe(false);
  });
});

describe("checkNode()", () => {
  const held = info({ id: "n", cluster: "c" });

  it("wants a node in the first message, and needs none later", () => {
    expect(checkNode(undefined, undefined)).toBe("the first message has no node");
    expect(checkNode(undefined, held)).toBeUndefined();
    expect(checkNode(held, undefined)).toBeUndefined();
  });

  it("takes the same identity again, with whatever else", () => {
    expect(checkNode(held, info({ id: "n", cluster: "c", clientFeatures: ["f"] }))).toBeUndefined();
  });

  it.each([
    { id: "m", cluster: "c" },
    { id: "n", cluster: "d" },
  ])("rejects another identity: %j", (init) => {
    expect(checkNode(held, info(init))).toBe("node.id or node.cluster changed on the stream");
  });
});
