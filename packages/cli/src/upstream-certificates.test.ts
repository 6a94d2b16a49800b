import { XdsError } from "@xdstp/core";
import { createFakeClock, createTestAuthority } from "@xdstp/testing";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";
import { followUpstreamCertificates } from "./upstream-certificates.ts";

const authority = createTestAuthority();
const inDays = (days: number): Date =>
  new Date((Math.floor(Date.now() / 1_000) + days * 86_400) * 1_000);

it("notes that certificates for a server upstream are replaced, or not used, and when they expire", () => {
  const [first, second] = [inDays(3), inDays(30)];
  const folder = useFolder({ "me.pem": authority.issue({ notAfter: first }).cert });
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
  folder.write({ "me.pem": authority.issue({ notAfter: second }).cert });
  clock.advance(5);
  certificates.observe({ kind: "credentials-replaced", server: "up:1", variant: "delta", files });
  expect(certificates.rows()).toEqual([
    { ...good, loadedAt: clock.wallTime(), expiresAt: second.getTime() },
  ]);
});

it("xdstp status of a relay says when the certificate expires that the relay shows upstream", async () => {
  const { cert, key } = authority.issue({ notAfter: inDays(3) });
  const { dir } = useFolder({ "me.pem": cert, "me-key.pem": key, "ca.pem": authority.cert });
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
