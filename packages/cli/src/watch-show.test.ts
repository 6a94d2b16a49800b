import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { encode } from "../test/use-origin.ts";
import { diffLines } from "./watch-show.ts";

const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

const view = { registry: envoyRegistry(), showSecrets: false };

/** The difference between two clusters with these fields in their metadata. Each field is one line. */
function differenceOf(before: JsonObject, now: JsonObject): readonly string[] {
  const held = (fields: JsonObject) => ({
    version: "",
    payload: {
      typeUrl,
      value: encode("envoy.config.cluster.v3.Cluster", {
        metadata: { filterMetadata: { m: fields } },
      }),
    },
  });
  return diffLines(held(before), held(now), view);
}

const fieldsOf = (count: number, valueOf: (at: number) => string): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, valueOf(at)]));

describe("diffLines()", () => {
  it("shows each changed line with three lines before and after it", () => {
    const lines = differenceOf(
      fieldsOf(10_000, () => "a"),
      fieldsOf(10_000, (at) => (at === 5_000 ? "b" : "a")),
    );
    expect(lines.map((line) => line.replaceAll(/ +/g, " "))).toEqual([
      "@@ -5002,7 +5002,7 @@",
      ...[" f4997: a", " f4998: a", " f4999: a"],
      ...["- f5000: a", "+ f5000: b"],
      ...[" f5001: a", " f5002: a", " f5003: a"],
    ]);
  });

  it("shows 100,000 lines that have all changed as removed and added", () => {
    const [head = "", ...lines] = differenceOf(
      fieldsOf(100_000, () => "a"),
      fieldsOf(100_001, () => "b"),
    );
    expect(head).toBe("@@ -2,100003 +2,100004 @@");
    expect(lines.filter((line) => line.startsWith("-"))).toHaveLength(100_000);
    expect(lines.filter((line) => line.startsWith("+"))).toHaveLength(100_001);
  });
});
