import { create, type JsonObject } from "@bufbuild/protobuf";
import { NodeSchema } from "@xdstp/protos/discovery";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { describe, expect, it } from "vitest";

import { type } from "../test/socket-client.ts";
import { compare } from "./compare.ts";
import { type ClientGroup, plannedResource } from "./index.ts";
import { simulate } from "./simulate.ts";

function resource(typeUrl: string, name: string, more: JsonObject = {}) {
  const payload = anyFromJson({ "@type": typeUrl, name, ...more }, envoyRegistry());
  return plannedResource({ typeUrl, resource: { name, version: "", payload } });
}

function routeTo(cluster: string) {
  const routes = [{ match: { prefix: "/" }, route: { cluster } }];
  return resource(type.routes, "r", { virtualHosts: [{ name: "v", domains: ["*"], routes }] });
}

function group(
  id: string,
  variant: ClientGroup["variant"],
  names: Readonly<Record<string, readonly string[]>>,
): ClientGroup {
  return {
    clients: [id],
    node: create(NodeSchema, { id, userAgentName: "envoy" }),
    variant,
    subscriptions: new Map(
      Object.entries(names).map(([typeUrl, list]) => [typeUrl, list.map((name) => ({ name }))]),
    ),
    behind: new Map(),
  };
}

describe("simulate()", () => {
  it("gives the same for groups at once and one after another", async () => {
    const comparison = compare(
      [resource(type.clusters, "a"), resource(type.clusters, "b"), routeTo("a")],
      [
        resource(type.clusters, "a", { connectTimeout: "1s" }),
        resource(type.clusters, "c"),
        routeTo("c"),
      ],
    );
    const groups = (["delta", "sotw"] as const).flatMap((variant) => [
      group(`${variant}-all`, variant, { [type.clusters]: ["*"], [type.routes]: ["r"] }),
      group(`${variant}-one`, variant, { [type.clusters]: ["b"] }),
      group(`${variant}-none`, variant, {}),
    ]);
    const together = await simulate(comparison, groups, envoyTypes);
    expect(together.map(({ responses }) => responses.length > 0)).toEqual([
      true,
      true,
      false,
      true,
      true,
      false,
    ]);
    for (const atOnce of [1, 3, 5])
      expect(await simulate(comparison, groups, envoyTypes, { atOnce })).toEqual(together);
  });
});
