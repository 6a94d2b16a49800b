import type { PeerIdentity } from "@xdstp/core";
import { cluster, listener } from "@xdstp/resource-types";
import type { Policy } from "@xdstp/server";
import { describe, expect, it } from "vitest";
import { createPolicyBook, type PolicyBook } from "./policy-book.ts";
import { policyRules } from "./policy-rules.ts";

const signal = new AbortController().signal;
const rulesOf = (...rules: readonly object[]): ReturnType<typeof policyRules> =>
  policyRules(JSON.stringify({ rules }), "p");
const identityOf = (...uris: readonly string[]): PeerIdentity => ({
  uris,
  dnsNames: [],
  subject: "",
  fingerprint: "",
});
const policyOf = (book: PolicyBook, ...uris: readonly string[]): Policy =>
  book.authorize({ address: "p", path: "/p", identity: identityOf(...uris) }, { signal }) as Policy;

const all = { identity: "spiffe://td/*", allow: { "*": ["shared"] } };
const team = { identity: "spiffe://td/a/*", allow: { clusters: ["a/*"] } };
const one = {
  identity: "spiffe://td/a/1",
  allow: { clusters: ["b"], "*": ["c"] },
  forbidden: "denied",
};

describe("createPolicyBook()", () => {
  it("decides by the rule that says most about the identity, and allows what it says of the type [S-LIM-8]", () => {
    const book = createPolicyBook(rulesOf(all, one, team));
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
    const book = createPolicyBook(rulesOf(team));
    expect(() => policyOf(book, "spiffe://td/b", "spiffe://td/a")).toThrow(
      expect.objectContaining({
        code: "PERMISSION_DENIED",
        text: "no rule fits spiffe://td/b, spiffe://td/a",
      }) as Error,
    );
    expect(() => policyOf(book)).toThrow(
      expect.objectContaining({ code: "PERMISSION_DENIED" }) as Error,
    );
    expect(() => book.authorize({ address: "p", path: "/p" }, { signal })).toThrow(
      expect.objectContaining({ code: "UNAUTHENTICATED" }) as Error,
    );
  });

  it("puts other names in force under the same policy [S-LIM-8]", () => {
    const book = createPolicyBook(rulesOf(all, team));
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
    const book = createPolicyBook(rulesOf(all, team));
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
