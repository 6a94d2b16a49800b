import { join } from "node:path";
import { createFakeClock, createTestAuthority } from "@xdstp/testing";
import { expect, it } from "vitest";
import { XdsError } from "@xdstp/core";
import { expiryOf, followUpstreamCertificates } from "./health-book.ts";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

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

const own = createTestAuthority();
const inDays = (days: number): Date =>
  new Date((Math.floor(Date.now() / 1_000) + days * 86_400) * 1_000);

it("notes that certificates for a server upstream are replaced, or not used, and when they expire", () => {
  const [first, second] = [inDays(3), inDays(30)];
  const folder = useFolder({ "me.pem": own.issue({ notAfter: first }).cert });
  const file = join(folder.dir, "me.pem");
  const clock = createFakeClock();
  const certificates = followUpstreamCertificates([file], clock);
  const good = { kind: "certificate", name: file, loadedAt: clock.wallTime() };
  expect(certificates.rows()).toEqual([{ ...good, expiresAt: first.getTime() }]);
  const files = ["ca.pem", file, "key.pem"];
  certificates.observe({
    kind: "credentials-rejected",
    server: "up:1",
    variant: "delta",
    files,
    error: new XdsError("INVALID_ARGUMENT", "the key does not fit"),
  });
  expect(certificates.rows()).toEqual([
    {
      ...good,
      expiresAt: first.getTime(),
      stale: { since: clock.wallTime(), reason: "the key does not fit" },
    },
  ]);
  folder.write({ "me.pem": own.issue({ notAfter: second }).cert });
  clock.advance(5);
  certificates.observe({ kind: "credentials-replaced", server: "up:1", variant: "delta", files });
  expect(certificates.rows()).toEqual([
    { ...good, loadedAt: clock.wallTime(), expiresAt: second.getTime() },
  ]);
});

it("xdstp status of a relay says when the certificate expires that the relay shows upstream", async () => {
  const { cert, key } = own.issue({ notAfter: inDays(3) });
  const { dir } = useFolder({ "me.pem": cert, "me-key.pem": key, "ca.pem": own.cert });
  const config = {
    ca_certificate_file: join(dir, "ca.pem"),
    certificate_file: join(dir, "me.pem"),
    private_key_file: join(dir, "me-key.pem"),
  };
  const { port } = useCli(["relay", "--listen", "127.0.0.1:0"], {
    env: {
      GRPC_XDS_BOOTSTRAP_CONFIG: JSON.stringify({
        xds_servers: [{ server_uri: "127.0.0.1:1", channel_creds: [{ type: "tls", config }] }],
      }),
    },
  });
  expect((await runToEnd(["status", `127.0.0.1:${await port()}`])).out).toMatch(
    /me\.pem expires in (?:2|3)d/,
  );
});
