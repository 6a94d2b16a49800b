import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDeltaStream } from "../test/grpc-stream.ts";
import { type RunningCli, runToEnd, useCli } from "../test/use-cli.ts";
import { type TestFolder, useFolder } from "../test/use-folder.ts";

const authority = createTestAuthority();
const clusters = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

async function page(cli: RunningCli, path: string): Promise<string> {
  const base =
    /metrics: (http:\/\/127\.0\.0\.1:\d+)\/metrics$/.exec(
      await cli.stdout.line(/listening/),
    )?.[1] ?? "";
  const response = await fetch(`${base}${path}`, { headers: { connection: "close" } });
  return `${response.status} ${await response.text()}`;
}

describe("xdstp serve with a broken folder", () => {
  it("says so in /readyz, /metrics and the first line of status, with file, line and since when, until it is good again", async () => {
    const folder = useFolder({ "config/_opaque/clusters/web.yaml": "type: STATIC\n" });
    const cli = useCli(["serve", "config", "--listen", "127.0.0.1:0", "--metrics", "0"], {
      cwd: folder.dir,
    });
    await cli.stdout.line(/Z loaded /);
    expect(await page(cli, "/readyz")).toBe("200 ok\n");
    expect(await page(cli, "/metrics")).toMatch(/\nxdstp_source_stale\{source=".*config"\} 0\n/);
    folder.write({ "config/_opaque/clusters/web.yaml": "name: web\ntype: STRICT_DNZ\n" });
    await cli.stdout.line(/Z rejected /);
    expect(await page(cli, "/readyz")).toMatch(
      /^200 ready, stale since \d{4}-.*Z: .*config: .*web\.yaml:2/,
    );
    expect(await page(cli, "/healthz")).toBe("200 ok\n");
    const metrics = await page(cli, "/metrics");
    expect(metrics).toMatch(/\nxdstp_source_stale\{source=".*config"\} 1\n/);
    expect(metrics).toMatch(/\nxdstp_source_broken_files\{source=".*config"\} 1\n/);
    expect(metrics).toMatch(
      /\nxdstp_stale_since_timestamp_seconds\{kind="source",name=".*config",reason=".*web\.yaml:\d+:\d+: .*"\} \d{10}/,
    );
    expect(metrics).toMatch(/\nxdstp_source_loaded_timestamp_seconds\{source=".*config"\} \d{10}/);
    const server = `127.0.0.1:${await cli.port()}`;
    expect((await runToEnd(["status", server])).out.split("\n")[0]).toMatch(
      /config is broken since \d+s: .*web\.yaml:2/,
    );
    const [{ schema, health }] = [
      JSON.parse((await runToEnd(["status", server, "--json"])).out) as {
        readonly schema: number;
        readonly health: readonly object[];
      },
    ];
    expect({ schema, health }).toMatchObject({
      schema: 1,
      health: [
        {
          kind: "source",
          loadedAt: expect.stringMatching(/Z$/) as string,
          stale: {
            since: expect.stringMatching(/Z$/) as string,
            reason: expect.stringContaining("web.yaml:2") as string,
          },
        },
      ],
    });
    folder.write({
      "config/_opaque/clusters/web.yaml": "name: web\ntype: STATIC\nconnect_timeout: 1s\n",
    });
    await cli.stdout.line(/Z loaded .*revision 2/);
    expect(await page(cli, "/readyz")).toBe("200 ok\n");
    expect((await runToEnd(["status", server])).out).toBe("no client is connected\n");
  });

  it("lists the pages of the metrics port, and measures the process with HELP and TYPE for each metric", async () => {
    const { dir } = useFolder({ "_opaque/clusters/web.yaml": "type: STATIC\n" });
    const cli = useCli(["serve", dir, "--listen", "127.0.0.1:0", "--metrics", "0"]);
    expect(await page(cli, "/")).toMatch(
      /^200 <!doctype html>[^]*\/metrics[^]*\/healthz[^]*\/readyz/,
    );
    const metrics = await page(cli, "/metrics");
    for (const name of [
      "xdstp_build_info",
      "process_cpu_seconds_total",
      "process_resident_memory_bytes",
      "process_start_time_seconds",
      "nodejs_eventloop_lag_p99_seconds",
    ]) {
      expect(metrics).toMatch(new RegExp(`# HELP ${name} \\S.*\n# TYPE ${name} (gauge|counter)\n`));
    }
    expect(metrics).toMatch(/\nxdstp_build_info\{version="\d+\.\d+\.\d+",node="99\.0\.0"\} 1\n/);
    expect(metrics).not.toMatch(/# HELP \S+ \n/);
  });
});

function useSecured(): {
  readonly folder: TestFolder;
  readonly cli: RunningCli;
  readonly status: (who: string, ...flags: readonly string[]) => ReturnType<typeof runToEnd>;
} {
  const rules =
    "rules:\n- identity: spiffe://td/edge\n  allow: {clusters: [web]}\n- identity: spiffe://td/operator\n  allow: {clusters: [web]}\n- identity: spiffe://td/admin\n  status: all\n";
  const pair = (name: string, uris?: readonly string[]): Record<string, string> => {
    const { cert, key } = authority.issue(
      uris === undefined ? { dnsNames: ["localhost"] } : { uris: [...uris] },
    );
    return { [`${name}.pem`]: cert, [`${name}-key.pem`]: key };
  };
  const folder = useFolder({
    ...pair("server"),
    ...pair("operator", ["spiffe://td/operator"]),
    ...pair("admin", ["spiffe://td/admin"]),
    "ca.pem": authority.cert,
    "policy.yaml": rules,
    "config/_opaque/clusters/web.yaml": "type: STATIC\n",
  });
  const cli = useCli(
    [
      "serve",
      "config",
      "--listen",
      "127.0.0.1:0",
      "--metrics",
      "0",
      "--tls-cert",
      "server.pem",
      "--tls-key",
      "server-key.pem",
      "--tls-client-ca",
      "ca.pem",
      "--policy",
      "policy.yaml",
    ],
    { cwd: folder.dir },
  );
  return {
    folder,
    cli,
    status: async (who, ...flags) =>
      runToEnd(
        [
          "status",
          `localhost:${await cli.port()}`,
          ...(flags.includes("--tls-ca") ? [] : ["--tls-ca", "ca.pem"]),
          "--tls-cert",
          `${who}.pem`,
          "--tls-key",
          `${who}-key.pem`,
          ...flags,
        ],
        { cwd: folder.dir },
      ),
  };
}

describe("xdstp status with a policy", () => {
  it("says how many streams are hidden and fails on what it cannot check, and shows all of them by a rule with status: all [B-CSDS-7]", async () => {
    const { cli, status } = useSecured();
    await cli.stdout.line(/Z loaded /);
    const { cert, key } = authority.issue({ uris: ["spiffe://td/edge"] });
    const edge = await openDeltaStream(await cli.port(), "e1", { ca: authority.cert, cert, key });
    onTestFinished(() => {
      edge.close();
    });
    edge.send({ typeUrl: clusters, resourceNamesSubscribe: ["web"] });
    await edge.arrived();
    edge.nack(edge.next(), "bad cluster");
    await cli.stdout.line(/nack|rejected/i);
    expect(await status("operator")).toMatchObject({
      code: 0,
      out: "1 stream that you may not see\n",
    });
    expect(JSON.parse((await status("operator", "--json")).out)).toMatchObject({
      clients: [],
      hiddenStreams: 1,
      health: [],
    });
    expect(await status("operator", "--fail-on-nack")).toMatchObject({
      code: 3,
      err: expect.stringContaining("1 stream that you may not see is not checked") as string,
    });
    expect(await status("operator", "--fail-if-none")).toMatchObject({ code: 3 });
    const all = await status("admin", "--fail-on-nack");
    expect([all.code, all.out]).toEqual([1, expect.stringMatching(/e1 +clusters +NACKED/)]);
    expect(JSON.parse((await status("admin", "--json")).out)).toMatchObject({
      hiddenStreams: 0,
      health: [
        { kind: "source" },
        { kind: "policy" },
        { kind: "certificate", name: expect.stringMatching(/server\.pem$/) as string },
        {
          kind: "certificate",
          name: expect.stringMatching(/ca\.pem$/) as string,
          expiresAt: expect.any(String) as string,
        },
      ],
    });
  });

  it("shows a policy file and a certificate that are not used, and measures when the certificate expires", async () => {
    const { folder, cli, status } = useSecured();
    await cli.stdout.line(/Z loaded /);
    expect(await page(cli, "/metrics")).toMatch(
      /\nxdstp_certificate_expiry_timestamp_seconds\{certificate=".*server\.pem"\} \d{10}/,
    );
    folder.write({ "policy.yaml": "rules:\n- identity: spiffe://td/admin\n  status: some\n" });
    expect(await cli.stdout.line(/policy .*those before stay/)).toContain(
      "policy.yaml:3:11: `status` is own or all",
    );
    folder.write({ "server-key.pem": authority.issue().key });
    await cli.stdout.line(/certificate .*the one before stays/);
    const { out } = await status("admin");
    expect(out).toMatch(/policy\.yaml is not used since \d+[sm]: .*policy\.yaml:3:11/);
    expect(out).toMatch(/server\.pem is not used since \d+[sm]: /);
    const metrics = await page(cli, "/metrics");
    expect(metrics).toMatch(/\nxdstp_policy_stale\{policy=".*policy\.yaml"\} 1\n/);
    expect(metrics).toMatch(/\nxdstp_certificate_stale\{certificate=".*server\.pem"\} 1\n/);
  });
});

describe("xdstp serve with a broken --tls-client-ca", () => {
  it("shows it under its own name in the log, status and metrics, and the certificate of the server as good", async () => {
    const { folder, cli, status } = useSecured();
    await cli.stdout.line(/Z loaded /);
    folder.write({ "ca.pem": "no certificate" });
    expect(await cli.stdout.line(/certificate .*the one before stays/)).toMatch(
      /the new \S+\/ca\.pem is not used, the one before stays: --tls-client-ca holds no certificate in PEM$/,
    );
    folder.write({ "check.pem": authority.cert });
    const { out } = await status("admin", "--tls-ca", "check.pem");
    expect(out).toMatch(/^\S+\/ca\.pem is not used since \d+[sm]: --tls-client-ca holds no /);
    expect(out).not.toContain("server.pem is not used");
    const metrics = await page(cli, "/metrics");
    expect(metrics).toMatch(/\nxdstp_certificate_stale\{certificate="[^"]*\/ca\.pem"\} 1\n/);
    expect(metrics).toMatch(/\nxdstp_certificate_stale\{certificate="[^"]*\/server\.pem"\} 0\n/);
    expect(metrics).toMatch(
      /\nxdstp_stale_since_timestamp_seconds\{kind="certificate",name="[^"]*\/ca\.pem",/,
    );
  });

  it("says what a certificate waits for that was broken before, and that both are good again", async () => {
    const { folder, cli, status } = useSecured();
    await cli.stdout.line(/Z loaded /);
    folder.write({ "server.pem": "no certificate" });
    expect(await cli.stdout.line(/certificate .*the one before stays/)).toMatch(
      /\/server\.pem is not used/,
    );
    const { cert, key } = authority.issue({ dnsNames: ["localhost"] });
    folder.write({ "server.pem": cert, "server-key.pem": key, "check.pem": authority.cert });
    folder.remove("ca.pem");
    await cli.stdout.line(
      /certificate .*the new \S+\/ca\.pem is not used.* the file does not exist/,
    );
    const { out } = await status("admin", "--tls-ca", "check.pem");
    expect(out).toMatch(
      /^\S+\/server\.pem is not used since \d+[sm]: it is used only together with \S+\/ca\.pem, which is broken\n\S+\/ca\.pem is not used/,
    );
    folder.write({ "ca.pem": authority.cert });
    await cli.stdout.line(/certificate .*the new one is shown/);
    expect(await page(cli, "/metrics")).not.toMatch(/\nxdstp_certificate_stale\{[^}]*\} 1\n/);
  });
});

describe("xdstp status --fail-if-none", () => {
  it("exits with 1 where no client is connected, and says so", async () => {
    const { dir } = useFolder({ "_opaque/clusters/web.yaml": "type: STATIC\n" });
    const cli = useCli(["serve", dir, "--listen", "127.0.0.1:0"]);
    await cli.stdout.line(/Z loaded /);
    expect(
      await runToEnd(["status", `127.0.0.1:${await cli.port()}`, "--fail-if-none"]),
    ).toMatchObject({ code: 1, err: "xdstp status: no client is connected\n" });
  });
});

describe("the version of a type", () => {
  it("is one text in the log and the metrics of serve, in the responses of both variants, in get and in status, also after a policy has changed [S-VER-3, S-VER-4]", async () => {
    const { dir } = useFolder({
      "_opaque/clusters/web.yaml": "type: STATIC\n",
      "_opaque/clusters/api.yaml": "type: STATIC\n",
    });
    const cli = useCli(["serve", dir, "--listen", "127.0.0.1:0", "--metrics", "0"]);
    const [, page = ""] = /metrics: (http:\S+)$/.exec(await cli.stdout.line(/listening/)) ?? [];
    const [, logged] = /versions +clusters (\w+)$/.exec(await cli.stdout.line(/Z versions /)) ?? [];
    const server = `127.0.0.1:${await cli.port()}`;
    const client = await openDeltaStream(await cli.port(), "n1");
    onTestFinished(() => {
      client.close();
    });
    client.send({ typeUrl: clusters, resourceNamesSubscribe: ["*"] });
    await client.arrived();
    const response = client.next();
    expect(response.systemVersionInfo).toBe(logged);
    client.ack(response);
    await cli.stdout.line(/Z ack /);
    expect((await runToEnd(["status", server])).out).toContain(`clusters  SYNCED  ${logged}`);
    for (const variant of ["--sotw", "--delta"])
      expect(
        (await runToEnd(["get", "*", "--type", "clusters", variant, "--server", server])).out,
      ).toContain(`\nclusters version ${logged}\n`);
    expect(await (await fetch(page, { headers: { connection: "close" } })).text()).toContain(
      `\nxdstp_version_info{type="envoy.config.cluster.v3.Cluster",version="${logged}"} 1\n`,
    );
    expect(await cli.stdout.line(/xdstp .*push|push +xdstp/)).toContain(`version ${logged}`);
  });

  it("is shown for each node key with content of its own, where it differs from that of all [S-VER-3]", async () => {
    const { dir } = useFolder({
      "_opaque/clusters/web.yaml": "type: STATIC\n",
      "_opaque/listeners/in.yaml":
        "address: {socket_address: {address: 127.0.0.1, port_value: 1}}\ndefault_filter_chain: {}\n",
      "_nodes/edge/_opaque/clusters/web.yaml": "connect_timeout: 1s\n",
    });
    const cli = useCli([
      "serve",
      dir,
      "--listen",
      "127.0.0.1:0",
      "--metrics",
      "0",
      "--node-key",
      "id",
    ]);
    const [, , logged] =
      /versions +clusters (\w+), listeners \w+; for node key "edge": clusters (\w+)$/.exec(
        await cli.stdout.line(/Z versions /),
      ) ?? [];
    const client = await openDeltaStream(await cli.port(), "edge");
    onTestFinished(() => {
      client.close();
    });
    client.send({ typeUrl: clusters, resourceNamesSubscribe: ["*"] });
    await client.arrived();
    expect(client.next().systemVersionInfo).toBe(logged);
    const metrics = await page(cli, "/metrics");
    expect(metrics).toContain(
      `\nxdstp_version_info{type="envoy.config.cluster.v3.Cluster",view="edge",version="${logged}"} 1\n`,
    );
    expect(metrics.match(/\nxdstp_version_info\{/g)).toHaveLength(3);
  });
});
