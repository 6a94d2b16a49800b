import { expect, it } from "vitest";

import { fileNameOf } from "./index.ts";

it.each([
  ["web", "web"],
  ["a/b", "a%2Fb"],
  ["..", "%2E."],
  [".hidden", "%2Ehidden"],
  ["50%", "50%25"],
  ["a b*(c)!'~", "a%20b%2A%28c%29%21%27%7E"],
  ["é", "%C3%A9"],
  ["", "%"],
  [
    "xdstp://a/envoy.config.cluster.v3.Cluster/x?b=c",
    "xdstp%3A%2F%2Fa%2Fenvoy.config.cluster.v3.Cluster%2Fx%3Fb%3Dc",
  ],
])("writes the name %j as %j", (name, file) => {
  expect(fileNameOf(name)).toBe(file);
});

it("cuts a long name, and keeps it different from others", () => {
  const [a, b] = ["a", "b"].map((end) => fileNameOf(`${"/".repeat(300)}${end}`));
  expect(a).toHaveLength(200);
  expect(a).not.toBe(b);
});
