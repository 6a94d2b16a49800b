import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { clusterUrl, encode, secretUrl, useOrigin } from "../test/use-origin.ts";

const timeless = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/127\.0\.0\.1:\d+/g, "SERVER")
    .replaceAll(/(?<=version |> )[\w-]{8}(?=[ ,\n]|$)/g, "HASH")
    .replaceAll(/nonce \w+/g, "nonce N");

describe.each(["delta", "sotw"] as const)("xdstp watch (%s)", (variant) => {
  it("shows the first state, then each change as a diff, and what is removed; Ctrl-C ends it with 0", async () => {
    const origin = await useOrigin();
    origin.cluster("blue", 1);
    const { stdout, stderr, exit, signal } = useCli([
      "watch",
      "blue",
      "--type",
      "clusters",
      "--server",
      origin.address,
      `--${variant}`,
    ]);
    await stdout.line(/state/);
    origin.cluster("blue", 2);
    await stdout.line(/changed/);
    origin.cache.remove(clusterUrl, "blue");
    await stdout.line(/removed/);
    origin.cluster("blue", 3);
    await stdout.line(/connect_timeout: 3s/);
    signal("SIGINT");
    expect(await exit).toBe(0);
    expect(stderr.text).toBe("");
    expect(timeless(stdout.text).split("\n")).toEqual([
      "TIME connected SERVER",
      "TIME state blue version HASH, 10 bytes",
      `'@type': ${clusterUrl}`,
      "name: blue",
      "connect_timeout: 1s",
      "TIME changed blue version HASH > HASH",
      "@@ -1,3 +1,3 @@",
      ` '@type': ${clusterUrl}`,
      " name: blue",
      "-connect_timeout: 1s",
      "+connect_timeout: 2s",
      "TIME removed blue, version HASH was the last",
      "TIME state blue version HASH, 10 bytes",
      `'@type': ${clusterUrl}`,
      "name: blue",
      "connect_timeout: 3s",
      "",
    ]);
  });

  it("ends at a signal while it shows the members of a large collection", async () => {
    const origin = await useOrigin();
    for (let n = 0; n < 5_000; n += 1) origin.cluster(`c${n}`);
    const { stdout, signal, exit } = useCli([
      "watch",
      "*",
      "--type",
      "clusters",
      "--json",
      "--server",
      origin.address,
      `--${variant}`,
    ]);
    await stdout.line(/"state"/);
    signal("SIGTERM");
    expect(await exit).toBe(0);
    expect(stdout.text.split("\n").length).toBeLessThan(2_000);
  });

  it("follows all of a type: lists what is there, says when that is all, then shows what is new", async () => {
    const origin = await useOrigin();
    for (const name of ["a", "b"]) origin.cluster(name);
    const { stdout, exit } = useCli([
      "watch",
      "*",
      "--type",
      "clusters",
      "--server",
      origin.address,
      `--${variant}`,
      "--count",
      "4",
    ]);
    await stdout.line(/complete/);
    origin.cluster("c");
    await stdout.line(/state c/);
    origin.cache.remove(clusterUrl, "a");
    expect(await exit).toBe(0);
    expect(timeless(stdout.text).split("\n")).toEqual([
      "TIME connected SERVER",
      "TIME state a version HASH, 7 bytes",
      "TIME state b version HASH, 7 bytes",
      "TIME complete *: 2 members",
      "TIME state c version HASH, 7 bytes",
      `'@type': ${clusterUrl}`,
      "name: c",
      "connect_timeout: 1s",
      "TIME removed a, version HASH was the last",
      "",
    ]);
  });

  it("writes one object for each event with --json", async () => {
    const origin = await useOrigin();
    origin.cluster("blue", 1);
    const { stdout, exit } = useCli([
      "watch",
      "blue",
      "--type",
      "clusters",
      "--server",
      origin.address,
      "--json",
      `--${variant}`,
      "--count",
      "2",
    ]);
    await stdout.line(/"state"/);
    origin.cluster("blue", 2);
    expect(await exit).toBe(0);
    const events = stdout.text
      .trimEnd()
      .split("\n")
      .map(
        (line) =>
          JSON.parse(line) as {
            readonly event: string;
            readonly version: string;
            readonly before?: string;
          },
      );
    expect(events.map(({ event }) => event)).toEqual(["connected", "state", "changed"]);
    expect(events[2]).toMatchObject({
      name: "blue",
      type: clusterUrl,
      before: events[1]?.version,
      resource: { "@type": clusterUrl, name: "blue", connect_timeout: "2s" },
    });
  });

  it("rejects on purpose, and says what was sent", async () => {
    const origin = await useOrigin();
    origin.cluster("blue");
    const { code, out } = await runToEnd([
      "watch",
      "blue",
      "--type",
      "clusters",
      "--server",
      origin.address,
      `--${variant}`,
      "--nack",
      "no\u001b[2J",
      "--count",
      "1",
    ]);
    expect(code).toBe(0);
    expect(timeless(out)).toMatch(
      /^TIME connected SERVER\nTIME rejected blue, NACK of nonce N sent: .*no\\u\{1b\}\[2J\n$/,
    );
  });

  it("says that the server is down, asks until it is back, and shows what is new then", async () => {
    const first = await useOrigin();
    first.cluster("blue", 1);
    const { stdout, signal, exit } = useCli([
      "watch",
      "blue",
      "--type",
      "clusters",
      "--server",
      first.address,
      `--${variant}`,
    ]);
    await stdout.line(/state/);
    await first.close();
    await stdout.line(/disconnected/);
    const second = await useOrigin({}, first.port);
    second.cluster("blue", 5);
    await stdout.line(/\+connect_timeout: 5s/);
    signal("SIGINT");
    expect(await exit).toBe(0);
    expect(timeless(stdout.text)).toMatch(/disconnected .*; again in \d+\.\d s\n/);
  });

  it("ends with 1 where too little has come in time, and says what has", async () => {
    const origin = await useOrigin();
    origin.cluster("blue");
    const clock = createFakeClock();
    const { stdout, stderr, exit } = useCli(
      [
        "watch",
        "blue",
        "--type",
        "clusters",
        "--server",
        origin.address,
        `--${variant}`,
        "--count",
        "3",
        "--timeout",
        "0.5",
      ],
      { clock },
    );
    await stdout.line(/state/);
    clock.advance(500);
    expect({ code: await exit, err: timeless(stderr.text) }).toEqual({
      code: 1,
      err: "xdstp watch: only 1 of 3 events have come within 0.5 s: SERVER is connected\n",
    });
  });
});

describe("xdstp watch", () => {
  it("shows that the TTL of a resource is over while its server is away [C-TTL-4] [C-TTL-6]", async () => {
    const clock = createFakeClock();
    const origin = await useOrigin({ clock });
    origin.cache.put({
      typeUrl: clusterUrl,
      name: "blue",
      ttlMs: 6_000,
      value: encode("envoy.config.cluster.v3.Cluster", { name: "blue" }),
    });
    const { stdout, exit } = useCli(
      ["watch", "blue", "--type", "clusters", "--server", origin.address, "--count", "2"],
      { clock },
    );
    await stdout.line(/state/);
    await origin.close();
    await stdout.line(/disconnected/);
    clock.advance(6_001);
    await stdout.line(/removed blue/);
    expect(await exit).toBe(0);
  });

  it("says that there is none, and when there is one", async () => {
    const origin = await useOrigin();
    const { stdout, exit } = useCli([
      "watch",
      "red",
      "--type",
      "clusters",
      "--server",
      origin.address,
      "--count",
      "2",
    ]);
    await stdout.line(/missing red: "red" does not exist/);
    origin.cluster("red");
    expect(await exit).toBe(0);
    expect(stdout.text).toMatch(/state red/);
  });

  it("says that a secret has changed, and not how", async () => {
    const origin = await useOrigin();
    const put = (value: string): void => {
      origin.cache.put({
        typeUrl: secretUrl,
        name: "key",
        value: encode("envoy.extensions.transport_sockets.tls.v3.Secret", {
          name: "key",
          type: {
            case: "tlsCertificate",
            value: { privateKey: { specifier: { case: "inlineString", value } } },
          },
        }),
      });
    };
    put("one");
    const { stdout, exit } = useCli([
      "watch",
      "key",
      "--type",
      "secrets",
      "--server",
      origin.address,
      "--count",
      "2",
    ]);
    await stdout.line(/redacted/);
    put("two");
    expect(await exit).toBe(0);
    expect(stdout.text).toMatch(/ changed key version .*\n {2}\(what differs is not shown\)\n$/);
    expect(stdout.text).not.toMatch(/one|two/);
  });

  it("shows nothing of a stranger to a terminal that it could take for a command", async () => {
    const origin = await useOrigin();
    origin.cluster("a\u202eb", 1);
    const { stdout, exit } = useCli(
      ["watch", "a\u202eb", "--type", "clusters", "--server", origin.address, "--count", "2"],
      { terminal: () => ({ columns: 80, rows: 24 }), env: { NO_COLOR: "1" } },
    );
    await stdout.line(/state/);
    origin.cluster("a\u202eb", 2);
    expect(await exit).toBe(0);
    expect(stdout.text).toContain(String.raw`name: "a\U0000202eb"`);
    expect(stdout.text).not.toMatch(/[^\P{C}\n]/u);
  });

  it("follows the members of a glob, and colours what has changed on a terminal", async () => {
    const origin = await useOrigin();
    const name = "xdstp://acme/envoy.config.cluster.v3.Cluster/eu/a";
    origin.cluster(name, 1);
    const { stdout, exit } = useCli(
      [
        "watch",
        "xdstp://acme/envoy.config.cluster.v3.Cluster/eu/*",
        "--server",
        origin.address,
        "--count",
        "2",
      ],
      { terminal: () => ({ columns: 80, rows: 24 }) },
    );
    await stdout.line(/complete/);
    origin.cluster(name, 2);
    expect(await exit).toBe(0);
    expect(stdout.text).toContain(
      "\u001b[31m-connect_timeout: 1s\u001b[0m\n\u001b[32m+connect_timeout: 2s\u001b[0m\n",
    );
  });

  it.each([
    [[], "which name?"],
    [["a", "--type", "clusters", "--count", "0"], '--count "0": give a number from 1'],
  ])("shows the usage when it is called the wrong way: %j", async (argv, said) => {
    const { code, err } = await runToEnd(["watch", ...argv]);
    expect(code).toBe(2);
    expect(err).toContain(`xdstp watch: ${said}\nUsage: xdstp watch NAME...`);
  });
});
