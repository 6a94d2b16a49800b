import { expect, it } from "vitest";

import type { CacheNode } from "./create-node-caches.ts";
import { nodeField } from "./node-field.ts";

const node: CacheNode = {
  id: "e1",
  cluster: "gold",
  userAgentName: "envoy",
  userAgentVersion: "",
  locality: "eu/a",
  clientFeatures: [],
  place: { region: "eu", zone: "a", subZone: "" },
  metadata: { tier: "gold", team: { name: "shop", size: 3, tags: ["x"] } },
};

it.each([
  ["id", "e1"],
  ["cluster", "gold"],
  ["user_agent_name", "envoy"],
  ["locality.region", "eu"],
  ["locality.zone", "a"],
  ["locality.sub_zone", ""],
  ["metadata.tier", "gold"],
  ["metadata.team.name", "shop"],
  ["metadata.team.size", "3"],
  ["metadata.team", undefined],
  ["metadata.team.tags", undefined],
  ["metadata.none", undefined],
  ["metadata.toString", undefined],
])("reads %s of a node", (field, value) => {
  expect(nodeField(field)(node)).toBe(value);
});

it.each(["", "tier", "metadata", "metadata.", "metadata.a..b", "toString"])(
  "rejects the field %j in words",
  (field) => {
    expect(() => nodeField(field)).toThrow("a node has no field");
  },
);
