import { describe, expect, it } from "vitest";
import { errorText } from "./error-text.ts";

describe("errorText()", () => {
  it.each([
    ["", ""],
    ["Error adding/updating cluster(s) c: no such thing", "Error adding/updating cluster(s) c: no such thing"],
    ["a bad key: -----BEGIN RSA PRIVATE KEY-----\nHIDDEN\n-----END RSA PRIVATE KEY----- in s", "a bad key: [redacted] in s"],
    ["-----BEGIN PRIVATE KEY-----\\nHIDDEN", "[redacted]"],
    ["-----BEGIN CERTIFICATE-----\nMIIB", "-----BEGIN CERTIFICATE-----\nMIIB"],
    ["(TlsCertificateValidationError.PrivateKey): private_key { inline_string: \"HID\\\"DEN\" }", "(TlsCertificateValidationError.PrivateKey): private_key { inline_string: \"[redacted]\" }"],
    ["password {\n  inline_bytes: \"HIDDEN\"\n}", "password {\n  inline_bytes: \"[redacted]\"\n}"],
    ["{\"inlineString\":\"HIDDEN\",\"name\":\"s\"}", "{\"inlineString\":\"[redacted]\",\"name\":\"s\"}"],
    ["secret_access_key: 'HIDDEN'", "secret_access_key: \"[redacted]\""],
    ["access_token: \"HIDDEN", "access_token: \"[redacted]\""],
    ["no secret \"s\" is known", "no secret \"s\" is known"],
  ])("says of %j what anybody may read [S-ACK-15] [B-CSDS-7]", (text, expected) => {
    expect(errorText(text, 1_000)).toBe(expected);
  });

  it("hides what is cut in the middle, and takes no time over what looks like much [S-ACK-15] [B-CSDS-7]", () => {
    expect(errorText(`-----BEGIN PRIVATE KEY-----${"HIDDEN".repeat(1_000)}`, 100)).toBe("[redacted]");
    const before = process.cpuUsage();
    for (const text of ["-----BEGIN PRIVATE KEY-----", "token", "token: \"\\", "secret:      ", "-----BEGIN "]) errorText(text.repeat(4_096), 4_096);
    expect(process.cpuUsage(before).user).toBeLessThan(500_000);
  });
});
