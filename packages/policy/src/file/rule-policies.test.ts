import type { PeerIdentity } from "@xdstp/core";
import { cluster, listener } from "@xdstp/resource-types";
import { describe, expect, it } from "vitest";
import type { Policy } from "../policy.ts";
import { createRulePolicies, type RulePolicies } from "./rule-policies.ts";
import { parsePolicy } from "./parse-policy.ts";

const rulesOf = (...rules: readonly object[]): ReturnType<typeof parsePolicy> =>
  parsePolicy(JSON.stringify({ rules }), "p");
const identityOf = (...uris: readonly string[]): PeerIdentity => ({
  uris,
  dnsNames: [],
  subject: "",
  fingerprint: "",
});
const policyOf = (book: RulePolicies, ...uris: readonly string[]): Policy =>
  book.authorize({ address: "p", identity: identityOf(...uris) });

const all = { identity: "spiffe://td/*", allow: { "*": ["shared"] } };
const team = { identity: "spiffe://td/a/*", allow: { clusters: ["a/*"] } };
const one = {
  identity: "spiffe://td/a/1",
  allow: { clusters: ["b"], "*": ["c"] },
  forbidden: "denied",
};

describe("createRulePolicies()", () => {
  it("names the rule that decides with its present line, also after the file has changed", () => {
    const [first, second] = [all, team].map(
      ({ identity }) => `- identity: ${identity}\n  allow: { clusters: [a] }\n`,
    );
    const book = createRulePolicies(parsePolicy(`rules:\n${first}${second}`, "policy.yaml"));
    const policy = policyOf(book, "spiffe://td/a/1");
    expect(policy.rule?.()).toBe("the rule for spiffe://td/a/* (policy.yaml:4)");
    book.apply(parsePolicy(`rules:\n${second}${first}`, "policy.yaml"));
    expect(policy.rule?.()).toBe("the rule for spiffe://td/a/* (policy.yaml:2)");
  });

  it("decides by the rule that says most about the identity, and allows what it says of the type [S-LIM-8]", () => {
    const book = createRulePolicies(rulesOf(all, one, team));
    const allowed = (...uris: readonly string[]): readonly string[] =>
      ["a/x", "b", "c", "shared"].flatMap((name) =>
        [cluster.typeUrl, listener.typeUrl]
          .filter((typeUrl) => policyOf(book, ...uris).allows(typeUrl, name))
          .map((typeUrl) => `${typeUrl === cluster.typeUrl ? "cluster" : "listener"} ${name}`),
      );
    expect(allowed("spiffe://td/z")).toEqual(["cluster shared", "listener shared"]);
    expect(allowed("spiffe://td/a/2")).toEqual(["cluster a/x"]);
    expect(allowed("spiffe://td/z", "spiffe://td/a/1")).toEqual([
      "cluster b",
      "cluster c",
      "listener c",
    ]);
    expect(policyOf(book, "spiffe://td/a/1").forbidden).toBe("denied");
    expect(policyOf(book, "spiffe://td/y").key).toBe(policyOf(book, "spiffe://td/z").key);
  });

  it("rejects who fits no rule, and who is nobody [S-NODE-8] [S-LIM-8]", () => {
    const book = createRulePolicies(rulesOf(team));
    expect(() => policyOf(book, "spiffe://td/b", "spiffe://td/a")).toThrow(
      expect.objectContaining({
        code: "PERMISSION_DENIED",
        text: "no rule fits spiffe://td/b, spiffe://td/a",
      }) as Error,
    );
    expect(() => policyOf(book)).toThrow(
      expect.objectContaining({ code: "PERMISSION_DENIED" }) as Error,
    );
    expect(() => book.authorize({ address: "p" })).toThrow(
      expect.objectContaining({ code: "UNAUTHENTICATED" }) as Error,
    );
  });

  it("goes by the identity first, then by the smallest range with the address [S-NODE-8] [S-LIM-8]", () => {
    const [wide, narrow] = [
      { address: "10.0.0.0/8", allow: { clusters: ["wide"] } },
      { address: "10.1.0.0/16", allow: { clusters: ["narrow"] } },
    ];
    const book = createRulePolicies(rulesOf(wide, narrow, team));
    const names = (address: string, ...uris: readonly string[]): readonly string[] => {
      const policy = book.authorize({
        address,
        ...(uris.length > 0 && { identity: identityOf(...uris) }),
      });
      return ["wide", "narrow", "a/x"].filter((name) => policy.allows(cluster.typeUrl, name));
    };
    expect(names("10.9.0.1:5")).toEqual(["wide"]);
    expect(names("10.1.0.1:5")).toEqual(["narrow"]);
    expect(names("10.1.0.1:5", "spiffe://td/a/1")).toEqual(["a/x"]);
    expect(names("10.1.0.1:5", "spiffe://td/b")).toEqual(["narrow"]);
    expect(() => names("192.0.2.1:5", "spiffe://td/b")).toThrow(
      expect.objectContaining({
        code: "PERMISSION_DENIED",
        text: "no rule fits spiffe://td/b or its address",
      }) as Error,
    );
    expect(() => names("192.0.2.1:5")).toThrow(
      expect.objectContaining({ code: "PERMISSION_DENIED" }) as Error,
    );
    const before = book.authorize({ address: "10.9.0.1:5" });
    book.apply(rulesOf(wide, narrow, team, { address: "10.9.0.0/16" }));
    expect(before.revoked?.aborted).toBe(true);
    expect(names("10.9.0.1:5")).toEqual([]);
  });

  it("puts other names in force under the same policy [S-LIM-8]", () => {
    const book = createRulePolicies(rulesOf(all, team));
    const [held, other] = [policyOf(book, "spiffe://td/a/1"), policyOf(book, "spiffe://td/b")];
    const told: string[] = [];
    held.watch?.(() => {
      told.push("team");
    });
    other.watch?.(() => {
      told.push("all");
    });
    book.apply(rulesOf(all, { ...team, allow: { clusters: ["b"] } }));
    expect(told).toEqual(["team"]);
    expect([held.allows(cluster.typeUrl, "b"), held.allows(cluster.typeUrl, "a/x")]).toEqual([
      true,
      false,
    ]);
    expect(policyOf(book, "spiffe://td/a/1")).toBe(held);
    expect(held.revoked?.aborted).toBe(false);
  });

  it("ends the streams whose rule is gone, answers otherwise, or may be another one by now, and gives them a new key [S-LIM-8]", () => {
    const book = createRulePolicies(rulesOf(all, team));
    const [wide, narrow] = [policyOf(book, "spiffe://td/b"), policyOf(book, "spiffe://td/a/1")];
    book.apply(rulesOf(all, team, one));
    expect([wide, narrow].map(({ revoked }) => revoked?.aborted)).toEqual([true, true]);
    expect(policyOf(book, "spiffe://td/b").key).not.toBe(wide.key);
    const [again, single] = [policyOf(book, "spiffe://td/a/2"), policyOf(book, "spiffe://td/a/1")];
    book.apply(rulesOf(all, { ...team, forbidden: "denied" }));
    expect(
      [again, single, policyOf(book, "spiffe://td/b")].map(({ revoked }) => revoked?.aborted),
    ).toEqual([true, true, false]);
    expect(policyOf(book, "spiffe://td/a/1").forbidden).toBe("denied");
  });
});
