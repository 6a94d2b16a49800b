import { describe, expect, it, onTestFinished } from "vitest";
import { askForClusters, nextNames } from "../test/cluster-stream.ts";
import { openDeltaStream, type DeltaStream } from "../test/grpc-stream.ts";
import { type RunningCli, runToEnd, useCli } from "../test/use-cli.ts";
import { envoyBootstrapOf, lead, of, useFederation } from "../test/use-federation.ts";
import { useFolder } from "../test/use-folder.ts";
import { clusterUrl, useOrigin } from "../test/use-origin.ts";

async function ask(
  cli: RunningCli,
  node: string,
  ...names: readonly string[]
): Promise<DeltaStream> {
  return askForClusters(await cli.port(), node, ...names);
}

describe("xdstp relay", () => {
  it("serves what a server has, asks once for what many want, and goes on when the server is gone [B-RELAY-1]", async () => {
    const origin = lead(await useOrigin());
    for (const name of ["a/1", "a/2"]) origin.cluster(of("x", name));
    const cli = useCli(["relay", "--server", origin.address, "--listen", "127.0.0.1:0"]);
    expect(await cli.stdout.line(/listening/)).toContain(
      `relaying ${origin.address} by --server ${origin.address}; to connect: `,
    );
    for (const node of ["n1", "n2"])
      expect(await nextNames(await ask(cli, node, of("x", "a/*")))).toEqual([
        of("x", "a/1"),
        of("x", "a/2"),
      ]);
    expect(origin.asked).toEqual([of("x", "a/*")]);
    await origin.close();
    await cli.stdout.line(/ closed +127\.0\.0\.1:\d+ is away: /);
    expect(await nextNames(await ask(cli, "n3", of("x", "a/*")))).toEqual([
      of("x", "a/1"),
      of("x", "a/2"),
    ]);
    cli.signal("SIGINT");
    expect(await cli.exit).toBe(0);
    expect(cli.stdout.text).toMatch(/ stopped /);
    expect(cli.stderr.text).toBe("");
  });

  it("tells programs what happens upstream and downstream, one object per line", async () => {
    const origin = lead(await useOrigin());
    origin.cluster(of("x", "web"));
    const cli = useCli([
      "relay",
      "--server",
      origin.address,
      "--listen",
      "127.0.0.1:0",
      "--json",
      "--node",
      "r1",
    ]);
    await nextNames(await ask(cli, "n1", of("x", "web")));
    await cli.stdout.line(/"ack"/);
    // The grace time is long enough for the stream to end by itself, also on a busy machine.
    await origin.server.close({ graceMs: 60_000 });
    const closed = JSON.parse(await cli.stdout.line(/"closed"/)) as object;
    expect(closed).toMatchObject({
      level: "warning",
      from: "upstream",
      event: "closed",
      server: origin.address,
      responded: true,
      status: { code: 0 },
    });
    expect(JSON.parse(await cli.stdout.line(/"listening"/))).toMatchObject({
      from: "relay",
      upstreams: [origin.address],
      by: `--server ${origin.address}`,
    });
    expect(JSON.parse(await cli.stdout.line(/"accepted"/))).toMatchObject({
      from: "upstream",
      type: clusterUrl,
      resources: 1,
    });
  });

  it("takes no larger response upstream than --channel-limit says, as get does not [C-LIM-7]", async () => {
    const origin = lead(await useOrigin());
    origin.cluster(of("x", "web"));
    const { stdout } = useCli([
      "relay",
      "--server",
      origin.address,
      "--listen",
      "127.0.0.1:0",
      "--channel-limit",
      "maxMessageBytes=20",
    ]);
    const port = Number(/127\.0\.0\.1:(\d+),/.exec(await stdout.line(/listening/))?.[1]);
    void askForClusters(port, "n1", of("x", "web"));
    expect(await stdout.line(/ closed /)).toContain("larger than 20");
    const { code, err } = await runToEnd([
      "get",
      of("x", "web"),
      "--server",
      origin.address,
      "--channel-limit",
      "maxMessageBytes=20",
    ]);
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining("larger than 20") as string,
    });
    expect(
      await runToEnd([
        "get",
        of("x", "web"),
        "--server",
        origin.address,
        "--channel-limit",
        "maxMessageBytes=2000",
      ]),
    ).toMatchObject({ code: 0 });
  });

  it.each(["boot.json", "envoy.json"])(
    "asks each authority of whom a bootstrap says: %s [C-AUTH-1]",
    async (file) => {
      const world = await useFederation(["a", "b"]);
      const { dir } =
        file === "boot.json"
          ? world
          : useFolder({
              [file]: JSON.stringify(
                envoyBootstrapOf({
                  listed: {
                    a: ["AGGREGATED_DELTA_GRPC", world.a.address],
                    b: ["AGGREGATED_GRPC", world.b.address],
                  },
                }),
              ),
            });
      world.a.cluster(of("a", "x"));
      world.b.cluster(of("b", "y"));
      const cli = useCli(["relay", "--bootstrap", file, "--listen", "127.0.0.1:0"], { cwd: dir });
      expect([
        await nextNames(await ask(cli, "n1", of("a", "x"))),
        await nextNames(await ask(cli, "n2", of("b", "y"))),
      ]).toEqual([[of("a", "x")], [of("b", "y")]]);
      expect([world.a.asked, world.b.asked]).toEqual([[of("a", "x")], [of("b", "y")]]);
    },
  );

  it("hands redirects on as they are, and follows them with --follow [B-RELAY-14]", async () => {
    const world = await useFederation(["a", "b"]);
    world.a.redirect(of("a", "x"), of("b", "y"));
    world.b.cluster(of("b", "y"));
    const typeOf = async (...flags: readonly string[]): Promise<string | undefined> => {
      const client = await ask(
        useCli(["relay", "--bootstrap", "boot.json", "--listen", "127.0.0.1:0", ...flags], {
          cwd: world.dir,
        }),
        "n",
        of("a", "x"),
      );
      await client.arrived();
      return client.next().resources[0]?.resource?.typeUrl;
    };
    expect(await typeOf()).toBe("type.googleapis.com/xds.core.v3.ResourceLocator");
    expect(await typeOf("--follow")).toBe(clusterUrl);
  });

  it("rejects opaque names with a reason, and asks for them as a client with the fields that --opaque-key names [B-RELAY-2]", async () => {
    const nodes: string[] = [];
    const origin = await useOrigin({
      onEvent: (event) => {
        if (event.kind === "subscribe")
          nodes.push(
            `${event.stream.node?.id ?? ""} ${event.stream.node?.cluster ?? ""} ${event.added.join()}`,
          );
      },
    });
    origin.cluster("web");
    const rejecting = useCli(["relay", "--server", origin.address, "--listen", "127.0.0.1:0"]);
    expect(await nextNames(await ask(rejecting, "n1", "web"))).toEqual([]);
    expect(await rejecting.stdout.line(/opaque-rejected/)).toContain("web");
    const keyed = useCli([
      "relay",
      "--server",
      origin.address,
      "--listen",
      "127.0.0.1:0",
      "--opaque-key",
      "id",
    ]);
    for (const node of ["n1", "n2"])
      expect(await nextNames(await ask(keyed, node, "web"))).toEqual(["web"]);
    expect(nodes.toSorted()).toEqual(["n1  web", "n2  web"]);
    const shared = useCli([
      "relay",
      "--server",
      origin.address,
      "--listen",
      "127.0.0.1:0",
      "--opaque-key",
      "none",
    ]);
    for (const node of ["n1", "n2"])
      expect(await nextNames(await ask(shared, node, "web"))).toEqual(["web"]);
    expect(nodes.slice(2)).toEqual(["xdstp-relay  web"]);
  });

  it.each([
    ["none", ""],
    ["id", 'view="id=n1",'],
  ])(
    "has a metric with the version of each type that clients subscribe to with a wildcard (--opaque-key %s)",
    async (key, label) => {
      const origin = await useOrigin();
      origin.cluster("web");
      const cli = useCli([
        "relay",
        "--server",
        origin.address,
        "--listen",
        "127.0.0.1:0",
        "--metrics",
        "0",
        "--opaque-key",
        key,
      ]);
      const [, url = ""] = /metrics: (http:\S+)$/.exec(await cli.stdout.line(/listening/)) ?? [];
      const measured = async (): Promise<readonly string[]> =>
        (await (await fetch(url, { headers: { connection: "close" } })).text())
          .split("\n")
          .filter((line) => line.startsWith("xdstp_version_info{"));
      await nextNames(await ask(cli, "n1", "web"));
      expect(await measured()).toEqual([]);
      const client = await ask(cli, "n1", "*");
      await client.arrived();
      expect(await measured()).toEqual([
        `xdstp_version_info{type="envoy.config.cluster.v3.Cluster",${label}version="${client.next().systemVersionInfo}"} 1`,
      ]);
    },
  );

  it("rejects upstream what one of the first clients rejects, with --quorum [B-RELAY-5]", async () => {
    const origin = lead(await useOrigin());
    origin.cluster(of("x", "web"), 1);
    const nacks = new Promise<string>((resolve) => {
      origin.server.events((event) => {
        if (event.kind === "nack") resolve(event.error.message);
      });
    });
    const cli = useCli([
      "relay",
      "--server",
      origin.address,
      "--listen",
      "127.0.0.1:0",
      "--quorum",
      "1",
      "--quorum-wait",
      "30",
    ]);
    const client = await ask(cli, "n1", of("x", "web"));
    await nextNames(client);
    await cli.stdout.line(/ ack /);
    origin.cluster(of("x", "web"), 2);
    await client.arrived();
    client.nack(client.next(), "not this one");
    expect(await nacks).toContain("not this one");
  });

  it("serves after a restart what --snapshot has kept, while the server is gone [B-RELAY-9]", async () => {
    const { dir } = useFolder({ key: "ab".repeat(32) });
    const origin = lead(await useOrigin());
    origin.cluster(of("x", "web"));
    const relay = (): RunningCli =>
      useCli(
        [
          "relay",
          "--server",
          origin.address,
          "--listen",
          "127.0.0.1:0",
          "--snapshot",
          "state",
          "--snapshot-key",
          "key",
        ],
        { cwd: dir },
      );
    const first = relay();
    expect(await nextNames(await ask(first, "n1", of("x", "web")))).toEqual([of("x", "web")]);
    await origin.close();
    first.signal("SIGINT");
    expect(await first.exit).toBe(0);
    const second = relay();
    expect(await second.stdout.line(/snapshot-opened/)).toMatch(/state: 1 resource in \d+ ms/);
    expect(await nextNames(await ask(second, "n2", of("x", "web")))).toEqual([of("x", "web")]);
  });

  it("asks on one stream for what all clients want: a server takes as many names of a type as --stream-names says, and who asks for one too many is told [S-LIM-4] [B-RELAY-1]", async () => {
    const { dir } = useFolder({
      "config/x/clusters/a.yaml": "{}",
      "config/x/clusters/b.yaml": "{}",
      "config/x/clusters/c.yaml": "{}",
    });
    const chain = async (
      names: string,
    ): Promise<{ readonly origin: RunningCli; readonly relay: RunningCli }> => {
      const origin = useCli(
        ["serve", "config", "--listen", "127.0.0.1:0", "--stream-names", names],
        { cwd: dir },
      );
      return {
        origin,
        relay: useCli([
          "relay",
          "--server",
          `127.0.0.1:${await origin.port()}`,
          "--listen",
          "127.0.0.1:0",
          "--stream-names",
          "2",
        ]),
      };
    };
    const [few, enough] = [await chain("2"), await chain("3")];
    for (const { relay } of [few, enough])
      expect(
        (await nextNames(await ask(relay, "n1", of("x", "a"), of("x", "b")))).toSorted(),
      ).toEqual([of("x", "a"), of("x", "b")]);
    expect(await nextNames(await ask(enough.relay, "n2", of("x", "c")))).toEqual([of("x", "c")]);
    await ask(few.relay, "n2", of("x", "c"));
    const hint =
      "more than 2 subscriptions of one type; xdstp serve and xdstp relay take more with --stream-names";
    expect(await few.origin.stdout.line(/ disconnect .*more than/)).toContain(hint);
    expect(await few.relay.stdout.line(/ closed .*more than/)).toContain(hint);
    await ask(enough.relay, "n3", of("x", "a"), of("x", "b"), of("x", "c"));
    expect(await enough.relay.stdout.line(/ disconnect /)).toContain(hint);
  });

  it("asks upstream for no more names than --upstream-names says, tells which have to wait, and serves the others on [S-LIM-4]", async () => {
    const origin = lead(await useOrigin());
    for (const id of ["a", "b"]) origin.cluster(of("x", id));
    const cli = useCli([
      "relay",
      "--server",
      origin.address,
      "--listen",
      "127.0.0.1:0",
      "--upstream-names",
      "1",
    ]);
    const calm = await ask(cli, "calm", of("x", "a"));
    expect(await nextNames(calm)).toEqual([of("x", "a")]);
    await ask(cli, "greedy", of("x", "b"));
    expect(await cli.stdout.line(/ upstream-full /)).toContain(
      `${origin.address} clusters ${of("x", "b")}: a relay subscribes to at most 1 names of one type at a server upstream`,
    );
    origin.cluster(of("x", "a"), 7);
    expect([await nextNames(calm), origin.asked]).toEqual([[of("x", "a")], [of("x", "a")]]);
  });

  it("is asked by xdstp status as a server is", async () => {
    const origin = await useOrigin();
    origin.cluster(of("x", "web"));
    const cli = useCli(["relay", "--server", origin.address, "--listen", "127.0.0.1:0"]);
    await nextNames(await ask(cli, "n1", of("x", "web")));
    await cli.stdout.line(/ ack /);
    const { code, out } = await runToEnd(["status", `127.0.0.1:${await cli.port()}`, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      clients: [{ id: "n1", types: [{ state: "SYNCED" }] }],
    });
  });

  it("shows what clients reject, by resource and version, as xdstp status does of it [B-RELAY-5]", async () => {
    const origin = lead(await useOrigin());
    origin.cluster(of("x", "web"));
    const cli = useCli(
      ["relay", "--server", origin.address, "--listen", "127.0.0.1:0", "--opaque-key", "none"],
      { env: { NO_COLOR: "1" }, terminal: () => ({ columns: 200, rows: 30 }) },
    );
    const port = Number(
      /on 127\.0\.0\.1:(\d+)/.exec(await cli.stdout.line(/on 127\.0\.0\.1/))?.[1],
    );
    for (const node of ["n1", "n2"]) {
      const client = await askForClusters(port, node, of("x", "web"));
      await client.arrived();
      client.nack(client.next(), `not for ${node}\u001b`);
      await cli.stdout.line(new RegExp(`^${node} +clusters +NACKED`));
    }
    const row = /xdstp:\S+web +clusters +\S+ +n1, n2 +\ds +not for n1\\u\{1b\}/;
    expect(await cli.stdout.line(row)).toMatch(row);
    const lines = (await runToEnd(["status", `127.0.0.1:${port}`])).out.split("\n");
    expect(lines.findIndex((line) => row.test(line))).toBe(
      lines.findIndex((line) => line.startsWith("REJECTED ")) + 1,
    );
    const { rejections } = JSON.parse(
      (await runToEnd(["status", `127.0.0.1:${port}`, "--json"])).out,
    ) as { readonly rejections: readonly object[] };
    expect(rejections).toEqual([
      {
        typeUrl: clusterUrl,
        name: of("x", "web"),
        version: expect.any(String) as string,
        clients: 2,
        by: ["n1", "n2"],
        among: 1,
        reason: "not for n1\u001b",
        since: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      },
    ]);
    expect((await runToEnd(["status", `127.0.0.1:${port}`, "--node", "n1"])).out).not.toContain(
      "REJECTED",
    );
  });

  it("tells programs of each resource that a client rejects: name, version, type, client and reason [B-RELAY-5]", async () => {
    const origin = lead(await useOrigin());
    origin.cluster(of("x", "web"));
    const cli = useCli(["relay", "--server", origin.address, "--listen", "127.0.0.1:0", "--json"]);
    const client = await ask(cli, "n1", of("x", "web"));
    await client.arrived();
    client.nack(client.next(), "not this\u001b one");
    const line = await cli.stdout.line(/"resource-rejected"/);
    expect(JSON.parse(line)).toEqual({
      schema: 1,
      time: expect.any(String) as string,
      level: "error",
      from: "upstream",
      event: "resource-rejected",
      type: clusterUrl,
      name: of("x", "web"),
      version: expect.stringMatching(/./) as string,
      client: "n1",
      among: 1,
      reason: "not this\u001b one",
    });
    expect(line).not.toContain("\u001b");
  });

  it("shows whom it asks above who asks it", async () => {
    const world = await useFederation(["a"], { gone: "127.0.0.1:1" });
    world.a.cluster(of("a", "x"));
    const cli = useCli(["relay", "--bootstrap", "boot.json", "--listen", "127.0.0.1:0"], {
      cwd: world.dir,
      env: { NO_COLOR: "1" },
      terminal: () => ({ columns: 100, rows: 30 }),
    });
    const port = Number(
      /on 127\.0\.0\.1:(\d+)/.exec(await cli.stdout.line(/on 127\.0\.0\.1/))?.[1],
    );
    const client = await openDeltaStream(port, "n1");
    onTestFinished(() => {
      client.close();
    });
    client.send({ typeUrl: clusterUrl, resourceNamesSubscribe: [of("a", "x"), of("gone", "y")] });
    expect(await cli.stdout.line(/^127\.0\.0\.1:1 .*unreachable/)).toMatch(
      /^127\.0\.0\.1:1 +gone, \(default\) +unreachable +- +0% +\ds/,
    );
    expect(await cli.stdout.line(/answering/)).toMatch(
      /^127\.0\.0\.1:\d+ +a +answering +\ds +0% +-/,
    );
    expect(await cli.stdout.line(/^n1 +clusters/)).toMatch(/SYNCED|STALE/);
  });

  it.each([
    [[], 2, "which server? Give --server HOST:PORT or --bootstrap FILE"],
    [["x"], 2, '"x" is one argument too many; --server or --bootstrap gives the servers'],
    [
      ["--server", "h:1", "--bootstrap", "f"],
      2,
      "--server and --bootstrap both say whom to ask; give one of them",
    ],
    [["--server", "127.0.0.1:1", "--opaque-key", "id,colour"], 1, "colour"],
    [["--server", "127.0.0.1:1", "--quorum-wait", "1"], 2, "--quorum-wait goes with --quorum N"],
    [
      ["--server", "127.0.0.1:1", "--snapshot-key", "f"],
      2,
      "--snapshot-key goes with --snapshot DIR",
    ],
    [
      ["--server", "127.0.0.1:1", "--snapshot", "s", "--snapshot-key", "only.json"],
      1,
      "a key is 32 bytes, as they are, as 64 hexadecimal digits or in base64",
    ],
    [
      ["--server", "127.0.0.1:1", "--snapshot", "s", "--snapshot-key", "none"],
      1,
      "the file does not exist",
    ],
    [["--server", "127.0.0.1:1", "--snapshot", "only.json"], 1, "only.json"],
    [["--bootstrap", "none.json"], 1, "none.json"],
    [["--bootstrap", "only.json"], 1, "configures only listeners and clusters"],
    [
      ["--server", "127.0.0.1:1", "--policy", "p.yaml"],
      1,
      "the rule goes by the certificates of clients: have the server check them (--tls-client-ca)",
    ],
  ])("does not begin with %j", async (args, code, text) => {
    const { dir } = useFolder({
      "p.yaml": "rules:\n- identity: spiffe://td/*\n",
      "only.json": JSON.stringify(envoyBootstrapOf({ clusters: ["DELTA_GRPC", "127.0.0.1:1"] })),
    });
    const result = await runToEnd(["relay", "--listen", "127.0.0.1:0", ...args], { cwd: dir });
    expect(result).toMatchObject({ code, out: "" });
    expect(result.err).toContain(text);
  });
});
