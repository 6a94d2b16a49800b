import { describe, expect, test } from "vitest";
import { requireNode } from "./require-node.ts";

describe("requireNode()", () => {
  test.each(["22.0.0", "24.21.0", "100.1.0"])("takes Node %s", (version) => {
    expect(() => {
      requireNode(version);
    }).not.toThrow();
  });

  test.each(["20.20.2", "18.0.0"])("rejects Node %s in words", (version) => {
    expect(() => {
      requireNode(version);
    }).toThrow(
      `[FAILED_PRECONDITION] Node 22 or newer is needed, and this is Node ${version}; install a newer Node`,
    );
  });
});
