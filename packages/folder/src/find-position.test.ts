import { join } from "node:path";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it, vi } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { checkFolder } from "./check-folder.ts";
import { exactYaml } from "./exact-yaml.ts";
import { findPosition } from "./find-position.ts";

const yaml = "a: 1\nlist:\n  - x: 1\n  - y:\n      deep: 2\n---\nb: &anchor {c: 1}\nd: *anchor\n";

describe("findPosition()", () => {
  it("finds a key", () => {
    expect(findPosition(yaml, 0, ["list"])).toEqual({ line: 2, column: 1 });
  });
  it("finds a key inside a list", () => {
    expect(findPosition(yaml, 0, ["list", 1, "y", "deep"])).toEqual({ line: 5, column: 7 });
  });
  it("finds an item of a list, also where its index is text", () => {
    expect(findPosition(yaml, 0, ["list", "1"])).toEqual({ line: 4, column: 5 });
  });
  it("finds a key in the second document, through an alias", () => {
    expect(findPosition(yaml, 1, ["d", "c"])).toEqual({ line: 7, column: 13 });
  });
  it("stops at the deepest place that exists", () => {
    expect(findPosition(yaml, 0, ["list", 0, "nothing", "here"])).toEqual({ line: 3, column: 5 });
  });
  it("finds a key of JSON", () => {
    expect(findPosition('{\n  "a": {"b": 1}}', 0, ["a", "b"])).toEqual({ line: 2, column: 9 });
  });
  it("finds the root", () => {
    expect(findPosition("\n\na: 1", 0, [])).toEqual({ line: 3, column: 1 });
  });
  it("goes on in a single value in the place of a list of one", () => {
    const text = "listeners:\n  name: a\n  addresses: [{x: 1}]\nnames: b\n";
    expect(findPosition(text, 0, ["listeners", 0, "addresses", 0, "x"])).toEqual({
      line: 3,
      column: 16,
    });
    expect(findPosition(text, 0, ["names", 0])).toEqual({ line: 4, column: 8 });
    expect(findPosition(text, 0, ["listeners", 1, "name"])).toEqual({ line: 1, column: 1 });
  });
  it("finds nothing in an empty text", () => {
    expect(findPosition("", 0, ["a"])).toBeUndefined();
  });
});

it("parses a text once for the positions of all its violations", async () => {
  const endpoint = `  - endpoint: { address: { socket_address: { address: a, port_value: 70000 } } }\n`;
  const { dir } = await useFolder({
    "_opaque/endpoints/web.yaml": `endpoints:\n- lb_endpoints:\n${endpoint.repeat(20)}`,
  });
  using parse = vi.spyOn(exactYaml(), "parseAllDocuments");
  const { problems } = await checkFolder({ dir, registry: envoyRegistry() });
  expect(problems).toHaveLength(20);
  expect(problems.at(-1)).toMatchObject({
    file: join(dir, "_opaque/endpoints/web.yaml"),
    line: 22,
  });
  expect(parse).toHaveBeenCalledOnce();
});
