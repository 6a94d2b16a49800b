import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

const web = "acme.example/clusters/web.yaml";
const name = "xdstp://acme.example/envoy.config.cluster.v3.Cluster/web";

/** A bootstrap of gRPC whose server is an origin of HTTP. */
function useBootstrap(origin: string): string {
  const server = { server_uri: origin, channel_creds: [{ type: "insecure" }] };
  const { dir } = useFolder({ "grpc.json": JSON.stringify({ xds_servers: [server] }) });
  return join(dir, "grpc.json");
}

async function useHttpServer(): Promise<string> {
  const { dir } = useFolder({ [web]: "connect_timeout: 1s\n" });
  const names = ["--http", "--http-authority", "acme.example"];
  const { stdout, port } = useCli(["serve", dir, "--listen", "127.0.0.1:0", ...names]);
  await stdout.line(/Z loaded /);
  return useBootstrap(`http://127.0.0.1:${await port()}`);
}

describe("a bootstrap with a server over native HTTP", () => {
  it("is where xdstp get reads a resource from, and its missing names are missing [B-HTTP-1]", async () => {
    const file = await useHttpServer();
    const found = await runToEnd(["get", name, "--bootstrap", file]);
    expect(found.out).toContain("connect_timeout: 1s\n");
    expect(found.out).toMatch(/^# server: http:\/\/127\.0\.0\.1:\d+, native HTTP$/m);
    const missing = await runToEnd(["get", `${name}2`, "--bootstrap", file]);
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining("status 404")]);
  });

  it("may also be given as --server, for opaque names too [B-HTTP-1]", async () => {
    const { dir } = useFolder({ [web]: "connect_timeout: 1s\n" });
    const names = ["--http", "--http-authority", "acme.example"];
    const { stdout, port } = useCli(["serve", dir, "--listen", "127.0.0.1:0", ...names]);
    await stdout.line(/Z loaded /);
    const origin = `http://127.0.0.1:${await port()}`;
    const { out } = await runToEnd(["get", name, "--server", origin]);
    expect(out).toContain(`# server: ${origin}, native HTTP\n`);
    expect(out).toContain("connect_timeout: 1s\n");
  });

  it("does not have globs, and says so [B-HTTP-3]", async () => {
    const glob = name.replace("web", "*");
    const { code, err } = await runToEnd(["get", glob, "--bootstrap", await useHttpServer()]);
    expect(code).toBe(1);
    expect(err).toContain("cannot be requested over HTTP, which has no globs");
  });

  it("is shown by xdstp resolve as native HTTP, without a variant [B-HTTP-12]", async () => {
    const file = useBootstrap("https://config.example");
    const { out } = await runToEnd(["resolve", name, "--bootstrap", file]);
    expect(out).toContain("https://config.example  native HTTP\n");
  });

  it("is invalid with a path, and the error has the way out", async () => {
    const file = useBootstrap("https://config.example/xds");
    const { code, err } = await runToEnd(["get", name, "--bootstrap", file]);
    expect(code).toBe(1);
    expect(err).toContain("is not an origin; give https://HOST or https://HOST:PORT");
  });

  it("has no streams: what needs them says so at once [B-HTTP-12]", async () => {
    const bootstrap = ["--bootstrap", await useHttpServer()];
    const { dir } = useFolder();
    const recorded = await runToEnd(["record", join(dir, "r.jsonl"), name, ...bootstrap]);
    expect([recorded.code, recorded.err]).toEqual([
      1,
      expect.stringMatching(/is read from http:\S+, which has no streams, and a recording is of/),
    ]);
    for (const command of ["get", "watch"]) {
      const rejected = await runToEnd([command, name, "--nack", "no", ...bootstrap]);
      expect([rejected.code, rejected.err]).toEqual([
        1,
        expect.stringContaining("which has no streams, and a NACK is sent on one"),
      ]);
    }
    const exported = await runToEnd(["export", join(dir, "out"), ...bootstrap]);
    expect([exported.code, exported.err]).toEqual([
      1,
      expect.stringContaining("an export reads all listeners and clusters"),
    ]);
  });

  it("is named by the error after a time limit", async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      silent.close();
      silent.closeAllConnections();
    });
    const server = `http://127.0.0.1:${String((silent.address() as AddressInfo).port)}`;
    const { code, err } = await runToEnd(["get", name, "--server", server, "--timeout", "0.2"]);
    expect([code, err]).toEqual([
      1,
      `xdstp get: "${name}" has not come within 0.2 s: ${server} has not answered\n`,
    ]);
  });
});
