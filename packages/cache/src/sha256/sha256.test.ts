import { describe, expect, it } from "vitest";

import * as node from "./node.ts";
import * as web from "./web.ts";

// The examples of FIPS 180-2, whose digests are given in hexadecimal there.
const examples = [
  ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  [
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  ],
] as const;

describe.each([
  ["Node", node],
  ["the web", web],
])("sha256() of %s", (_name, { sha256 }) => {
  it.each(examples)("of %j", (text, hexadecimal) => {
    const digest = sha256(new TextEncoder().encode(text));
    expect(Buffer.from(digest, "base64url").toString("hex")).toBe(hexadecimal);
    expect(digest).toMatch(/^[\w-]{43}$/);
  });
});
