import { createTestAuthority } from "@xdstp/testing";
import { expect, it } from "vitest";
import { expiryOf } from "./note-certificates.ts";

const day = 86_400_000;
const authority = createTestAuthority();
const [early, late] = [5, 20].map((days) => {
  const time = new Date(Math.floor(Date.now() / 1_000) * 1_000 + days * day);
  return { time, pem: authority.issue({ notAfter: time }).cert };
});

it("is the first end of a chain, and the last one of authorities, in whatever order they stand", () => {
  for (const pems of [
    [early?.pem, late?.pem],
    [late?.pem, early?.pem],
  ]) {
    const pem = Buffer.from(`# a comment\n${pems.join("\n")}`);
    expect(expiryOf(pem, "chain")).toEqual({ expiresAt: early?.time.getTime() });
    expect(expiryOf(pem, "authorities")).toEqual({ expiresAt: late?.time.getTime() });
  }
});

it("is not known of what cannot be read", () => {
  expect(expiryOf(Buffer.from("no PEM"), "chain")).toBeUndefined();
  expect(
    expiryOf(
      Buffer.from("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
      "chain",
    ),
  ).toBeUndefined();
});
