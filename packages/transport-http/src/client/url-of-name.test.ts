import { readFileSync } from "node:fs";
import { typeUrlFromType } from "@xdstp/uri";
import { describe, expect, it } from "vitest";

import { readTarget } from "../server/read-target.ts";
import { urlOfName } from "./url-of-name.ts";

interface Vector {
  readonly id: string;
  readonly input: string;
  readonly kind: "name" | "locator";
  readonly ok: boolean;
  readonly canonical?: string;
  readonly components?: {
    readonly authority: string;
    readonly resourceType: string;
    readonly id: string;
    readonly isGlob: boolean;
  };
}

const vectors = (
  JSON.parse(
    readFileSync(new URL("../../../../docs/vectors/xdstp-uri.json", import.meta.url), "utf8"),
  ) as readonly Vector[]
).filter(
  ({ kind, ok, canonical, components }) =>
    kind === "name" &&
    ok &&
    canonical !== undefined &&
    components?.isGlob === false &&
    components.id !== "",
);
const origin = "https://config.example:8443";
const clusterType = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

describe("urlOfName()", () => {
  it("finds vectors", () => {
    expect(vectors.length).toBeGreaterThan(30);
  });

  it.each(vectors)("replaces the scheme of the canonical name: $input [B-HTTP-1]", (vector) => {
    const { authority, resourceType } = vector.components ?? { authority: "", resourceType: "" };
    const url = urlOfName(typeUrlFromType(resourceType), vector.input, (asked) => {
      expect(asked).toBe(authority);
      return origin;
    });
    const path = vector.canonical?.replace(/^xdstp:\/\/[^/]*/, "") ?? "";
    expect(url).toBe(`${origin}${path}`);
    // The server reads the same name out of it.
    expect(readTarget(url.slice(origin.length), authority).names[0]).toBe(vector.canonical);
  });

  it.each(["web", "a b/c?d=e#f", "*x", "ümlaut", "100%"])(
    "requests the opaque name %j below its type [B-HTTP-1]",
    (name) => {
      const url = urlOfName(clusterType, name, () => origin);
      expect(url.startsWith(`${origin}/envoy.config.cluster.v3.Cluster/`)).toBe(true);
      expect(new URL(url).search + new URL(url).hash).toBe("");
      expect(readTarget(url.slice(origin.length), "config.example").names).toContain(name);
    },
  );

  it.each(["*", "xdstp://a/envoy.config.cluster.v3.Cluster/*", "xdstp://a/t/x/*?k=v"])(
    "rejects the glob %s [B-HTTP-3]",
    (name) => {
      expect(() => urlOfName(clusterType, name, () => origin)).toThrow(
        `[UNIMPLEMENTED] ${JSON.stringify(name)} cannot be requested over HTTP, which has no globs`,
      );
    },
  );

  it.each([
    ["xdstp://a", "has no resource type"],
    ["xdstp://a/t/x#entry=b", "directive"],
    ["xdstp://a/t", "it has a type, but not an id"],
  ])("rejects the name %s", (name) => {
    expect(() => urlOfName(clusterType, name, () => origin)).toThrow(
      `[INVALID_ARGUMENT] ${JSON.stringify(name)} cannot be requested over HTTP: `,
    );
  });

  it.each(["a/../b", "a/./b", "..", ".", "a/%2e%2E/b", "..?k=v"])(
    "rejects the id %s, which a URL would turn into another one [B-HTTP-1]",
    (id) => {
      const rejected = "a URL with the segment . or .. leads to another resource";
      expect(() => urlOfName(clusterType, `xdstp://a/t/${id}`, () => origin)).toThrow(rejected);
      const opaque = decodeURIComponent(id.split("?", 1)[0] ?? "");
      expect(() => urlOfName(clusterType, opaque, () => origin)).toThrow(rejected);
    },
  );

  it.each(["a/..b", "a...", ".a/b", "a/b.", "a?k=.."])("requests the id %s, dots and all", (id) => {
    const url = urlOfName(clusterType, `xdstp://a/t/${id}`, () => origin);
    expect(new URL(url).href).toBe(`${origin}/t/${id}`);
  });

  it.each(["after=1", "k=v&at=2", "form=json", "%66orm=json"])(
    "rejects the context parameters %s, which belong to the transport [S-HTTP-14]",
    (params) => {
      expect(() => urlOfName(clusterType, `xdstp://a/t/x?${params}`, () => origin)).toThrow(
        "after, at and form are parameters of the transport",
      );
    },
  );

  it.each(["config.example", "https://config.example/base", "ftp:x", ""])(
    "rejects the origin %j",
    (wrong) => {
      expect(() => urlOfName(clusterType, "web", () => wrong)).toThrow("is not an origin");
    },
  );

  it("says that a name has no origin", () => {
    expect(() => urlOfName(clusterType, "web", () => undefined)).toThrow(
      "no origin is configured for it",
    );
  });
});
