import { describe, expect, it } from "vitest";
import { errorText } from "./error-text.ts";

describe("errorText()", () => {
  it.each([
    ["", ""],
    [
      "Error adding/updating cluster(s) c: no such thing",
      "Error adding/updating cluster(s) c: no such thing",
    ],
    [
      "a bad key: -----BEGIN RSA PRIVATE KEY-----\nHIDDEN\n-----END RSA PRIVATE KEY----- in s",
      "a bad key: [redacted] in s",
    ],
    ["-----BEGIN PRIVATE KEY-----\\nHIDDEN", "[redacted]"],
    ["-----BEGIN CERTIFICATE-----\nMIIB", "-----BEGIN CERTIFICATE-----\nMIIB"],
    [
      '(TlsCertificateValidationError.PrivateKey): private_key { inline_string: "HID\\"DEN" }',
      '(TlsCertificateValidationError.PrivateKey): private_key { inline_string: "[redacted]" }',
    ],
    ['password {\n  inline_bytes: "HIDDEN"\n}', 'password {\n  inline_bytes: "[redacted]"\n}'],
    ['{"inlineString":"HIDDEN","name":"s"}', '{"inlineString":"[redacted]","name":"s"}'],
    ["secret_access_key: 'HIDDEN'", 'secret_access_key: "[redacted]"'],
    ['access_token: "HIDDEN', 'access_token: "[redacted]"'],
    ["inline_string: HIDDEN", 'inline_string: "[redacted]"'],
    [
      "private_key: {inline_string: HIDDEN}, name: s",
      'private_key: {inline_string: "[redacted]"}, name: s',
    ],
    [
      "inline_string: |\n  HIDDEN\n  HIDDEN\n\n  HIDDEN\nname: s",
      'inline_string: "[redacted]"\nname: s',
    ],
    ["inlineBytes: >-\r\n    HIDDEN\r\n  name: s", 'inlineBytes: "[redacted]"\n  name: s'],
    ["inline_string: |\\n  HIDDEN HIDDEN", 'inline_string: "[redacted]"'],
    ['private_key: inline_string: "HID DEN"', 'private_key: "[redacted]"'],
    ["private_key:\n  inline_string: HIDDEN\n", 'private_key:\n  inline_string: "[redacted]"\n'],
    ["password:\n          HIDDEN", 'password:\n          "[redacted]"'],
    ["password: HID:DEN", 'password: "[redacted]"'],
    ['secrets: [HIDDEN, "HID]DEN"]', 'secrets: "[redacted]"'],
    [
      "RateLimitValidationError.TokenBucket: value is required",
      "RateLimitValidationError.TokenBucket: value is required",
    ],
    [
      "TokenBucketValidationError.MaxTokens: value must be greater than 0",
      "TokenBucketValidationError.MaxTokens: value must be greater than 0",
    ],
    ["json_key: HIDDEN", 'json_key: "[redacted]"'],
    ['"jsonKey":"HIDDEN"', '"jsonKey":"[redacted]"'],
    ["api_key=HIDDEN&a=b", 'api_key="[redacted]"'],
    ["x-api-key: HIDDEN", 'x-api-key: "[redacted]"'],
    ["apikey: HIDDEN, a", 'apikey: "[redacted]", a'],
    ["authorization: HIDDEN", 'authorization: "[redacted]"'],
    [
      "header Authorization: Bearer HIDDEN is rejected",
      'header Authorization: "[redacted]" is rejected',
    ],
    [
      "Proxy-Authorization: Basic HIDDEN== is rejected",
      'Proxy-Authorization: "[redacted]" is rejected',
    ],
    ["sent 'Bearer HIDDENHIDDENHIDDEN'", "sent 'Bearer [redacted]'"],
    [
      "-----BEGIN PGP PRIVATE KEY BLOCK-----\nHIDDEN\n-----END PGP PRIVATE KEY BLOCK----- in s",
      "[redacted] in s",
    ],
    ["authorization failed: no such role", "authorization failed: no such role"],
    ['no secret "s" is known', 'no secret "s" is known'],
  ])("says of %j what anybody may read [S-ACK-15] [B-CSDS-7]", (text, expected) => {
    expect(errorText(text, 1_000)).toBe(expected);
  });

  it("hides what is cut in the middle, and takes no time over what looks like much [S-ACK-15] [B-CSDS-7]", () => {
    expect(errorText(`-----BEGIN PRIVATE KEY-----${"HIDDEN".repeat(1_000)}`, 100)).toBe(
      "[redacted]",
    );
    const before = process.cpuUsage();
    for (const text of [
      "-----BEGIN PRIVATE KEY-----",
      "token",
      'token: "\\',
      "token: ",
      "inline_string: |",
      "inline_string: |\n ",
      "inline_string: |\n\n",
      "Bearer ",
      "Authorization: Bearer ",
      "token: a: ",
      "token: a:",
      "token: [",
      "token:\n ",
      "token: |\n \n",
      "token: -----BEGIN PGP PRIVATE KEY BLOCK-----",
      "secret:      ",
      "-----BEGIN ",
    ]) {
      errorText(text.repeat(4_096), 4_096);
      errorText(`token: |${text}`.repeat(4_096), 65_536);
      errorText(`token: |${text.repeat(4_096)}`, 65_536);
    }
    expect(process.cpuUsage(before).user).toBeLessThan(500_000);
  });
});
