import { describe, expect, it } from "vitest";
import { exposureWarning } from "./exposure-warning.ts";

describe("exposureWarning()", () => {
  it.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("has nothing to say of %s", (host) => {
    expect(exposureWarning(host, "none")).toBeUndefined();
  });

  it.each(["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example.com", "example.com", "::ffff:10.0.0.1"])(
    "warns of %s, but not where clients have to prove who they are",
    (host) => {
      expect(exposureWarning(host, "none")).toContain(
        `${host} may be reached from other machines, and there is no TLS and no login`,
      );
      expect(exposureWarning(host, "tls")).toContain(
        `${host} may be reached from other machines, and there is no login`,
      );
      expect(exposureWarning(host, "mtls")).toBeUndefined();
    },
  );
});
