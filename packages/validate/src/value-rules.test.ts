import { describe, expect, it } from "vitest";
import type { Settings } from "./rule-settings.ts";
import { durationCheck, timestampCheck } from "./time-rules.ts";
import { valueCheck } from "./value-rules.ts";

/** Returns the ids of the rules that a value violates. */
function violated(kind: string, rules: Settings, value: unknown): readonly string[] {
  const found: string[] = [];
  const check =
    kind === "duration"
      ? durationCheck(rules)
      : kind === "timestamp"
        ? timestampCheck(rules, () => 1000)
        : valueCheck(kind, rules, undefined);
  check?.(value, (rule) => found.push(rule));
  return found;
}

const bytes = (text: string): Uint8Array => Buffer.from(text);

/**
 * Each row has rules, values that are valid, and values that are not. The Envoy API does not use
 * all of these rules.
 */
const cases: readonly (readonly [string, Settings, readonly unknown[], readonly unknown[]])[] = [
  ["int32", { const: 3 }, [3], [2, 0]],
  ["int32", { in: [1, 2] }, [1, 2], [0, 3]],
  ["int32", { not_in: [1, 2] }, [0, 3], [1, 2]],
  ["int64", { gt: 1n, lt: 5n }, [2n, 4n], [1n, 5n]],
  ["int64", { gte: 1n, lte: 5n }, [1n, 5n], [0n, 6n]],
  ["uint32", { gt: 5, lt: 2 }, [1, 6], [2, 3, 5]],
  ["uint32", { gte: 5, lte: 2 }, [2, 5], [3, 4]],
  ["uint32", { gte: 5, ignore_empty: true }, [0, 5], [4]],
  ["double", { gte: 0, lte: 1 }, [0, 1, NaN, -0], [-0.1, 1.1, Infinity]],
  ["bool", { const: true }, [true], [false]],
  ["string", { const: "a" }, ["a"], ["", "A"]],
  ["string", { len: 2n }, ["ab", "é😀"], ["", "a", "abc"]],
  ["string", { min_len: 1n, max_len: 2n }, ["😀", "😀😀"], ["", "abc"]],
  ["string", { len_bytes: 4n }, ["😀", "abcd"], ["a", "éé1"]],
  ["string", { min_bytes: 2n, max_bytes: 3n }, ["é", "abc"], ["a", "😀"]],
  ["string", { contains: "b" }, ["abc"], ["", "ac"]],
  ["string", { not_contains: "b" }, ["", "ac"], ["abc"]],
  ["string", { prefix: "/", suffix: "%" }, ["/%", "/a%"], ["/", "%", ""]],
  ["string", { pattern: "^a.c$" }, ["abc", "a\u2028c"], ["ac", "a\nc", "abc\n"]],
  ["string", { pattern: "(?i)ABC" }, ["xabcx"], ["ab"]],
  ["string", { min_len: 3n, ignore_empty: true }, ["", "abc"], ["ab"]],
  ["string", { well_known_regex: 1 }, ["x-a", ":path", "a,b"], ["", "a b", "ü", ":", "a\n"]],
  ["string", { well_known_regex: 1, strict: false }, ["", "a b", "ü"], ["a\n", "\0", "\r"]],
  ["string", { well_known_regex: 2 }, ["", "a b\tü"], ["a\n", "\x7f", "\x01"]],
  ["string", { ip: true }, ["10.0.0.1", "::1"], ["", "10.0.0", "fe80::1%eth0"]],
  ["string", { ipv4: true }, ["10.0.0.1"], ["::1", "a"]],
  ["string", { ipv6: true }, ["::1"], ["10.0.0.1", "a"]],
  ["string", { hostname: true }, ["a-1.Example.", "1"], ["", "-a", "a-", "a..b", "a_b", "é"]],
  ["string", { address: true }, ["a.example", "::1"], ["", "a b"]],
  ["string", { uuid: true }, ["123e4567-e89b-12d3-a456-426614174000"], ["", "123e4567"]],
  ["bytes", { len: 2n }, [bytes("ab")], [bytes("a"), bytes("é1")]],
  ["bytes", { min_len: 1n, max_len: 2n }, [bytes("a")], [bytes(""), bytes("abc")]],
  ["bytes", { const: bytes("a") }, [bytes("a")], [bytes("b")]],
  ["bytes", { prefix: bytes("a") }, [bytes("ab")], [bytes("ba"), bytes("")]],
  ["bytes", { in: [bytes("a"), bytes("b")] }, [bytes("b")], [bytes("c")]],
  ["bytes", { pattern: "^é" }, [bytes("éa")], [bytes("a")]],
  ["bytes", { ipv4: true }, [new Uint8Array(4)], [new Uint8Array(16), new Uint8Array(3)]],
  ["bytes", { ip: true }, [new Uint8Array(4), new Uint8Array(16)], [new Uint8Array(5)]],
  ["enum", { const: 1 }, [1], [0]],
  ["enum", { in: [1, 2] }, [1], [0, 3]],
  ["duration", { const: { seconds: 1n } }, [{ seconds: 1n }], [{}, { seconds: 1n, nanos: 1 }]],
  [
    "duration",
    { gt: {}, lte: { seconds: 1n } },
    [{ nanos: 1 }, { seconds: 1n }],
    [{}, { seconds: 2n }],
  ],
  ["duration", { gte: {} }, [{}], [{ seconds: -1n }, { seconds: 1n, nanos: -1 }]],
  ["duration", { in: [{ seconds: 1n }] }, [{ seconds: 1n, nanos: 0 }], [{}]],
  ["duration", { lt: { seconds: 9n } }, [{}], [{ seconds: 315_576_000_001n }]],
  ["timestamp", { gt: { seconds: 5n } }, [{ seconds: 6n }], [{ seconds: 5n }, { nanos: -1 }]],
  ["timestamp", { lt_now: true }, [{}], [{ seconds: 1n }, { seconds: 2n }]],
  [
    "timestamp",
    { gt_now: true, within: { seconds: 5n } },
    [{ seconds: 2n }],
    [{ seconds: 1n }, { seconds: 7n }],
  ],
  ["timestamp", { within: { seconds: 5n } }, [{}, { seconds: 6n }], [{ seconds: 7n }]],
];

describe("the rules of a value", () => {
  it.each(
    cases.map(
      ([kind, rules, ...values]) => [kind, Object.keys(rules).join(), rules, ...values] as const,
    ),
  )("of the kind %s: %s", (kind, _, rules, kept, broken) => {
    for (const value of kept) expect(violated(kind, rules, value)).toEqual([]);
    for (const value of broken) expect(violated(kind, rules, value)).not.toEqual([]);
  });

  it("that no rule is set for are none", () => {
    expect(valueCheck("uint32", {}, undefined)).toBeUndefined();
    expect(valueCheck("string", { min_len: 0n, ignore_empty: true }, undefined)).toBeUndefined();
  });
});
