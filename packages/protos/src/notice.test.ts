import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

describe("the notice", () => {
  it.each(["cli", "protos", "schema"])(
    "goes out with %s, which ships a part of Envoy's API, as it stands in the root",
    (name) => {
      expect(read(`packages/${name}/NOTICE`)).toBe(read("NOTICE"));
    },
  );

  it("names the version of Envoy that the image is made from", () => {
    const version = /go-control-plane\/envoy v(\S+)/.exec(read("tools/envoy-image/go.mod"))?.[1];
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(read("NOTICE")).toContain(`the v3 API of Envoy ${version ?? ""}.`);
  });
});
