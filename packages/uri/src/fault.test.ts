import { describe, expect, it } from "vitest";
import { fault } from "./fault.ts";
import type { UriErrorCode } from "./uri-error.ts";

/** Each code with the rule that it has where no other is given. */
const rules: Readonly<Record<UriErrorCode, string>> = {
  scheme: "N-01",
  "authority-marker": "N-02",
  authority: "N-20",
  "type-missing": "N-08",
  "type-invalid": "N-08",
  "percent-encoding": "N-05",
  utf8: "N-06",
  "control-character": "N-04",
  "fragment-in-name": "N-18",
  "directive-unknown": "N-14",
  "directive-duplicate": "N-15",
  "directive-empty": "N-16",
  "directive-value": "N-17",
  "query-in-file": "N-19",
  "too-deep": "N-17",
  "reserved-key": "N-60",
  "node-field": "N-62",
};

describe("fault()", () => {
  it.each(Object.entries(rules) as [UriErrorCode, string][])(
    "says of %s where it is and what to do, by rule %s",
    (code, rule) => {
      const { message, rule: broken } = fault(code, "id", "xdstp://a/b", 3);
      expect(message).toMatch(/^\[[a-z0-9-]+\] at 3 of "xdstp:\/\/a\/b": .{10,}/);
      expect(broken).toBe(rule);
      expect(message).not.toMatch(/N-\d/);
    },
  );

  it("quotes a text of a hundred characters whole, and cuts a longer one", () => {
    const quoted = (length: number): string =>
      fault("scheme", "scheme", "x".repeat(length), 0).message;
    expect(quoted(100)).toContain(`"${"x".repeat(100)}"`);
    expect(quoted(101)).toContain(`"${"x".repeat(100)}..."`);
  });
});
