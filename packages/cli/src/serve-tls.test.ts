import { renameSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { runToEnd, useCli, type RunningCli } from "../test/use-cli.ts";
import { type TestFolder, useFolder } from "../test/use-folder.ts";

const authority = createTestAuthority();
const certificate = (name: string): Record<string, string> => {
  const { cert, key } = authority.issue({ name, dnsNames: ["localhost"] });
  return { "tls/cert.pem": cert, "tls/key.pem": key };
};
const flags = ["--tls-cert", "tls/cert.pem", "--tls-key", "tls/key.pem"];

function serve(folder: TestFolder, ...more: readonly string[]): RunningCli {
  folder.write({ "config/_opaque/clusters/x.yaml": "{}" });
  return useCli(["serve", "config", "--listen", "127.0.0.1:0", ...flags, ...more], {
    cwd: folder.dir,
  });
}

/** Returns the name in the certificate that the server shows to a new connection. */
async function shownBy(port: number): Promise<string> {
  const socket = connect({
    port,
    host: "127.0.0.1",
    servername: "localhost",
    ca: authority.cert,
    ALPNProtocols: ["h2"],
  });
  onTestFinished(() => {
    socket.destroy();
  });
  await new Promise((resolve, reject) => {
    socket.on("secureConnect", resolve).on("error", reject);
  });
  const { subject }: PeerCertificate = socket.getPeerCertificate();
  return String(subject.CN);
}

describe("xdstp serve --tls-cert --tls-key", () => {
  it("shows a new certificate to new connections as its files change", async () => {
    const folder = useFolder(certificate("first"));
    const cli = serve(folder);
    const port = await cli.port();
    expect(await shownBy(port)).toBe("first");
    folder.write(certificate("second"));
    expect(await cli.stdout.line(/certificate /)).toContain(
      "the new one is shown to new connections",
    );
    expect(await shownBy(port)).toBe("second");
  });

  it("says how to connect to it: by a name of its certificate, with the authority, and with a certificate where it asks for one", async () => {
    const folder = useFolder({ ...certificate("first"), "ca.pem": authority.cert });
    const cli = serve(folder);
    const port = await cli.port();
    expect(await cli.stdout.line(/listening/)).toContain(
      `to connect: xdstp bootstrap envoy --server localhost:${port} --tls-ca CA.pem > envoy.yaml`,
    );
    const strict = serve(folder, "--tls-client-ca", "ca.pem");
    expect(await strict.stdout.line(/listening/)).toMatch(
      /xdstp bootstrap grpc --server localhost:\d+ --tls-ca CA\.pem --tls-cert CLIENT\.pem --tls-key CLIENT-KEY\.pem\)/,
    );
  });

  it("keeps what it has while the files are broken or gone, says so, and takes the next good ones", async () => {
    const folder = useFolder(certificate("first"));
    const cli = serve(folder);
    const port = await cli.port();
    folder.write({ "tls/key.pem": authority.issue().key });
    expect(await cli.stdout.line(/certificate .*the one before stays/)).toContain(
      "--tls-key does not belong to --tls-cert",
    );
    expect(await shownBy(port)).toBe("first");
    folder.remove("tls/cert.pem");
    expect(await cli.stdout.line(/certificate .*the file does not exist/)).toContain("cert.pem");
    expect(await shownBy(port)).toBe("first");
    folder.write(certificate("second"));
    await cli.stdout.line(/certificate .*the new one is shown/);
    expect(await shownBy(port)).toBe("second");
  });

  it("follows a link that is exchanged, as Kubernetes mounts a secret", async () => {
    const [folder, at] = [useFolder(), (path: string): string => join(folder.dir, path)];
    for (const name of ["first", "second"])
      for (const [path, text] of Object.entries(certificate(name)))
        folder.write({ [path.replace("tls", `tls/..${name}`)]: text });
    symlinkSync("..first", at("tls/..data"));
    for (const file of ["cert.pem", "key.pem"]) symlinkSync(`..data/${file}`, at(`tls/${file}`));
    const cli = serve(folder);
    const port = await cli.port();
    symlinkSync("..second", at("tls/..next"));
    renameSync(at("tls/..next"), at("tls/..data"));
    rmSync(at("tls/..first"), { recursive: true });
    await cli.stdout.line(/certificate .*the new one is shown/);
    expect(await shownBy(port)).toBe("second");
    unlinkSync(at("tls/..data"));
  });

  it("warns of strangers on other machines unless they have to show a certificate", async () => {
    const folder = useFolder({ ...certificate("first"), "ca.pem": authority.cert });
    folder.write({ "config/_opaque/clusters/x.yaml": "{}" });
    const start = (...more: readonly string[]): RunningCli =>
      useCli(["serve", "config", "--listen", "0.0.0.0:0", ...flags, ...more], { cwd: folder.dir });
    expect(await start().stdout.line(/warning/)).toContain("there is no login");
    const cli = start("--tls-client-ca", "ca.pem");
    await cli.stdout.line(/Z loaded /);
    expect(cli.stdout.text).not.toContain("warning");
  });

  it.each([
    [["--tls-cert", "tls/cert.pem"], 2, "TLS needs both --tls-cert and --tls-key"],
    [["--tls-client-ca", "ca.pem"], 2, "TLS needs both --tls-cert and --tls-key"],
    [
      ["--tls-cert", "none.pem", "--tls-key", "tls/key.pem"],
      1,
      "none.pem: the file does not exist; give a PEM file",
    ],
    [
      ["--tls-cert", "tls/key.pem", "--tls-key", "tls/key.pem"],
      1,
      "--tls-cert holds no certificate in PEM",
    ],
    [
      ["--tls-cert", "tls/cert.pem", "--tls-key", "tls/cert.pem"],
      1,
      "--tls-key does not belong to --tls-cert, or is not valid PEM",
    ],
    [
      [...flags, "--tls-client-ca", "tls/key.pem"],
      1,
      "--tls-client-ca holds no certificate in PEM",
    ],
  ] as const)("does not begin with %j", async (given, code, text) => {
    const folder = useFolder({ ...certificate("first"), "config/_opaque/clusters/x.yaml": "{}" });
    const result = await runToEnd(["serve", "config", "--listen", "127.0.0.1:0", ...given], {
      cwd: folder.dir,
    });
    expect(result).toMatchObject({ code, out: "" });
    expect(result.err).toContain(text);
  });
});
