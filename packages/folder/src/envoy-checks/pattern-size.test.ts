import type { JsonObject } from "@bufbuild/protobuf";
import { RE2JS } from "@bufbuild/re2";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";
import { leastProgramSize } from "./pattern-size.ts";

const sizeOf = (pattern: string) => leastProgramSize(pattern, (text) => RE2JS.compile(text));

describe("leastProgramSize()", () => {
  // The sizes that Envoy 1.40 names for these.
  it.each<readonly [pattern: string, size: number]>([
    ["a", 5],
    ["a{150}", 154],
    ["é{3}", 8],
    ["[^/]", 6],
    ["[a-zA-Z]", 5],
    ["[a-zA-Z0-9]", 6],
    ["\\pL{40}", 284],
    ["(?i)hello world", 15],
    ["(a)", 7],
    ["(?:aa|ab|ac)", 6],
    ["(foo|bar)|(foo|baz)", 20],
    ["^[^/]", 4],
    ["^(?:far)*$", 5],
    ["[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", 72],
  ])("knows the size of %s", (pattern, size) => {
    expect(sizeOf(pattern)).toBe(size);
  });

  it.each<readonly [pattern: string, size: number]>([
    ["a*a*a+", 6],
    ["a?a*", 5],
    ["a*a{0,5}", 5],
    ["[a-z]{3,}[a-z]*", 8],
    ["foo|far|fax", 10],
    ["^abcabc", 4],
    ["^abc\\s\\sabc", 13],
    ["^/api/v[0-9]+/(users|orders|items|products)/[^/]+/(details|reviews|history)$", 61],
    [".*\\.(jpg|png|gif|css|js|ico|svg|woff2?)$", 35],
  ])("counts no more for %s than Envoy, which joins parts of it", (pattern, size) => {
    expect(sizeOf(pattern)).toBeLessThanOrEqual(size);
    expect(sizeOf(pattern)).toBeGreaterThanOrEqual(size - 8);
  });

  it("does not know what becomes of alternatives that begin with the same assertion", () => {
    expect(sizeOf("^foo|^far")).toBeUndefined();
  });

  it("counts 2,000 alternatives in time that grows with their number", () => {
    const many = Array.from({ length: 2000 }, (_, index) => `/path-${index}`).join("|");
    const started = performance.now();
    expect(sizeOf(many)).toBeGreaterThan(100);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe("the limit of programs", () => {
  const route = (matcher: JsonObject) => ({
    address: { socket_address: { address: "::1", port_value: 80 } },
    filter_chains: [
      {
        filters: [
          {
            name: "http",
            typed_config: {
              "@type":
                "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
              route_config: {
                virtual_hosts: [
                  {
                    domains: ["*"],
                    routes: [{ match: { safe_regex: matcher }, direct_response: {} }],
                  },
                ],
              },
            },
          },
        ],
      },
    ],
  });
  const found = (matcher: JsonObject, ...layers: readonly JsonObject[]) =>
    envoyRejections("envoy.config.bootstrap.v3.Bootstrap", {
      layered_runtime: { layers: layers.map((one, index) => ({ name: `${index}`, ...one })) },
      static_resources: { listeners: [route(matcher)] },
    }).map((problem) => /safe_regex\.(.*)/.exec(problem)?.[1]);
  const level = (value: JsonObject[string]): JsonObject => ({
    static_layer: { "re2.max_program_size.error_level": value },
  });
  const tooLarge = (size: number, limit: number) =>
    `regex: is compiled to a program of ${size} instructions or more, and the limit is ${limit}`;

  it("is 100, or what the last static layer says", () => {
    expect(found({ regex: "a{96}" })).toEqual([]);
    expect(found({ regex: "a{97}" })).toEqual([tooLarge(101, 100)]);
    expect(found({ regex: "a{97}" }, level(200), { admin_layer: {} })).toEqual([]);
    expect(found({ regex: "a{97}" }, level("200"))).toEqual([]);
    expect(found({ regex: "a{97}" }, level(200), level(50))).toEqual([tooLarge(101, 50)]);
    const parted = { static_layer: { re2: { max_program_size: { error_level: 200 } } } };
    expect(found({ regex: "a{97}" }, parted)).toEqual([]);
  });

  it("is not known where a layer is elsewhere, or of a resource without its bootstrap", () => {
    expect(found({ regex: "a{97}" }, { rtds_layer: { name: "a" } })).toEqual([]);
    expect(found({ regex: "a{97}" }, { disk_layer: { symlink_root: "a" } })).toEqual([]);
    const matcher = "envoy.type.matcher.v3.RegexMatcher";
    expect(envoyRejections(matcher, { regex: "a{97}" })).toEqual([]);
    expect(
      envoyRejections(matcher, { regex: "a{20}", google_re2: { max_program_size: 10 } }),
    ).toEqual([`bad-pattern ${tooLarge(24, 10)}`]);
  });
});
