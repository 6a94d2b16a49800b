import { expect, it } from "vitest";
import { addressRange } from "./patterns.ts";

it.each([
  ["192.0.2.0/24", 24, ["192.0.2.7:80", "[::ffff:192.0.2.7]:80"], ["192.0.3.1:80", "[::1]:80"]],
  ["192.0.2.1", 32, ["192.0.2.1:80"], ["192.0.2.2:80", "unknown:0", ""]],
  ["0.0.0.0/0", 0, ["203.0.113.9:1"], ["[2001:db8::1]:1"]],
  ["2001:db8::/32", 32, ["[2001:db8:1::9]:80"], ["[2001:db9::9]:80", "192.0.2.1:80"]],
  ["fe80::/10", 10, ["[fe80::1%eth0]:80"], ["[::1]:80"]],
  ["::1", 128, ["[::1]:80"], ["[::2]:80"]],
] as const)("%s holds its addresses and no others", (text, bits, inside, outside) => {
  const range = addressRange(text);
  expect(range?.bits).toBe(bits);
  expect([...inside, ...outside].filter((peer) => range?.has(peer))).toEqual(inside);
});

it.each(["", "192.0.2.0/33", "192.0.2/24", "2001:db8::/129", "localhost", "192.0.2.0/24/8", "*"])(
  "%j is not a range",
  (text) => {
    expect(addressRange(text)).toBeUndefined();
  },
);
