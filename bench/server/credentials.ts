import { createTestAuthority, type TestCertificate } from "@xdstp/testing";

/** A certificate (P-256, as service meshes have them) and its key, both PEM. */
export function credentials(): TestCertificate {
  return createTestAuthority().issue({ dnsNames: ["localhost"] });
}
