import { describe, expect, it, test } from "vitest";

import { nodeWarning, requireNode } from "./node-warning.ts";

/**
 * The vulnerabilities that need only a newer version of Node: the security releases of 11 November
 * 2026 (CVE-2026-123863, -123865, -123866, -123868, -123872, -123874), and those of C-core and
 * others whose advice is to keep the runtime up to date.
 */
describe("nodeWarning()", () => {
  it.each([
    "22.23.5",
    "22.24.0",
    "24.22.3",
    "24.30.0",
    "26.13.1",
    "26.14.0",
    "27.0.0",
    "28.1.2",
    "27.0.0-nightly20261101",
  ])("has nothing to say of %s", (version) => {
    expect(nodeWarning(version)).toBeUndefined();
  });

  it.each([
    "22.23.4",
    "22.9.9",
    "24.22.2",
    "24.21.0",
    "26.13.0",
    "26.9.2",
    "20.20.2",
    "23.11.0",
    "25.9.0",
    "18.0.0",
  ])(
    "warns of %s, and names the way out (CVE-2026-123863 and the others of November 2026, CVE-2023-32731, CVE-2024-7246)",
    (version) => {
      expect(nodeWarning(version)).toBe(
        `Node ${version} lacks security fixes for HTTP/2; run this on Node 22.23.5, 24.22.3 or 26.13.1, or newer`,
      );
    },
  );
});

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
