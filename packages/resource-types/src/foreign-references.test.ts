import { describe, expect, it } from "vitest";
import { foreignReferences } from "./references-of.ts";

const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const at = (authority: string): string => `xdstp://${authority}/envoy.config.cluster.v3.Cluster/c`;

describe("foreignReferences()", () => {
  const of = (names: readonly string[], authorities: readonly string[]): readonly string[] =>
    foreignReferences(
      names.map((name) => ({ typeUrl, name })),
      authorities,
    ).map(({ name }) => name);

  it("tells of xdstp names whose authority is none of those that are answered for, and never of opaque names [S-AUTH-10]", () => {
    expect(of(["c", at("a"), at("b"), at("")], ["a"])).toEqual([at("b"), at("")]);
    expect(of([at("b")], [])).toEqual([at("b")]);
    expect(of(["c", "http://b/c", "xdstp:no-name"], [])).toEqual([]);
    expect(
      of(
        [at("a%2Fb"), `${at("a")}?x=y`, "xdstp://a/envoy.config.cluster.v3.Cluster/p/*"],
        ["a/b", "a"],
      ),
    ).toEqual([]);
  });
});
