import type { ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { createServer } from "node:net";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { openDeltaStream } from "./grpc-stream.ts";
import { createTextSink, type TextSink } from "./text-sink.ts";
import { useFolder } from "./use-folder.ts";
import { useProgram } from "./use-program.ts";

const startProgram = useProgram();
const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const running = new Set<ChildProcess>();

afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
});

interface Program {
  readonly child: ChildProcess;
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  readonly exit: Promise<number | null>;
}

function start(
  args: readonly string[],
  cwd = process.cwd(),
  output: "pipe" | number = "pipe",
): Program {
  const child = startProgram(args, {
    cwd,
    stdio: ["ignore", output, "pipe"],
  });
  running.add(child);
  const [stdout, stderr] = [createTextSink(), createTextSink()];
  child.stdout
    ?.setEncoding("utf8")
    .on("data", (text: string) => {
      stdout.write(text);
    })
    .on("end", () => {
      stdout.end();
    });
  child.stderr
    ?.setEncoding("utf8")
    .on("data", (text: string) => {
      stderr.write(text);
    })
    .on("end", () => {
      stderr.end();
    });
  const exit = new Promise<number | null>((resolve) => {
    child.on("close", (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  return { child, stdout, stderr, exit };
}

describe("the xdstp program", () => {
  it("tells the status of a server once, goes on with --watch until Ctrl-C, and ends at once where there is no server [B-CSDS-1]", async () => {
    const served = start(
      ["serve", ".", "--listen", "127.0.0.1:0"],
      useFolder({ "a.example/clusters/web.yaml": "type: STATIC\n" }).dir,
    );
    const port = Number(
      /127\.0\.0\.1:(\d+), serving/.exec(await served.stdout.line(/listening/))?.[1],
    );
    await served.stdout.line(/Z loaded /);
    const client = await openDeltaStream(port, "n1");
    client.send({ typeUrl: clusterUrl, resourceNamesSubscribe: ["*"] });
    await client.arrived();
    const once = start(["status", `127.0.0.1:${port}`]);
    expect(await once.exit).toBe(0);
    expect(once.stdout.text).toMatch(/^CLIENT .*\nn1 +clusters +STALE/);
    const watching = start(["status", `127.0.0.1:${port}`, "--watch"]);
    await watching.stdout.line(/n1 clusters STALE/);
    client.ack(client.next());
    await watching.stdout.line(/n1 clusters SYNCED/);
    watching.child.kill("SIGINT");
    expect(await watching.exit).toBe(0);
    client.close();
    served.child.kill("SIGINT");
    await served.exit;
    const late = start(["status", `127.0.0.1:${port}`]);
    expect(await late.exit).toBe(1);
    expect(late.stderr.text).toBe(
      `xdstp status: 127.0.0.1:${port} does not accept connections; is a server running there?\n`,
    );
  });

  it("gets a resource and is done, watches until Ctrl-C, records until there is enough, and replays", async () => {
    const folder = useFolder({ "config/a.example/clusters/web.yaml": "type: STATIC\n" });
    const served = start(["serve", "config", "--listen", "127.0.0.1:0"], folder.dir);
    const port = Number(
      /127\.0\.0\.1:(\d+), serving/.exec(await served.stdout.line(/listening/))?.[1],
    );
    await served.stdout.line(/Z loaded /);
    const name = "xdstp://a.example/envoy.config.cluster.v3.Cluster/web";
    const asked = [name, "--server", `127.0.0.1:${port}`];
    const got = start(["get", ...asked]);
    expect(await got.exit).toBe(0);
    expect(got.stdout.text).toContain("\ntype: STATIC\n");
    const watching = start(["watch", ...asked]);
    await watching.stdout.line(/type: STATIC/);
    const recording = start(["record", "r.jsonl", ...asked, "--count", "1"], folder.dir);
    expect([await recording.exit, recording.stderr.text]).toEqual([0, ""]);
    watching.child.kill("SIGINT");
    expect(await watching.exit).toBe(0);
    const replaying = start(["replay", "r.jsonl", "--server", `127.0.0.1:${port}`], folder.dir);
    expect([await replaying.exit, replaying.stdout.text.trimEnd().split("\n").at(-1)]).toEqual([
      0,
      "no difference",
    ]);
    served.child.kill("SIGINT");
    await served.exit;
    const late = start(["get", ...asked]);
    expect(await late.exit).toBe(1);
    expect(late.stderr.text).toMatch(/^xdstp get: cannot connect to .*nothing listens there .*\n$/);
  });

  it("serves a folder, follows an edit, and on Ctrl-C ends its streams with OK and itself with 0 [S-STREAM-13]", async () => {
    const folder = useFolder({ "config/a.example/clusters/web.yaml": "type: STATIC\n" });
    const { child, stdout, stderr, exit } = start(
      ["serve", "config", "--listen", "127.0.0.1:0"],
      folder.dir,
    );
    const port = Number(
      /127\.0\.0\.1:(\d+), serving config;/.exec(await stdout.line(/listening/))?.[1],
    );
    await stdout.line(/Z loaded /);
    const client = await openDeltaStream(port, "n1");
    client.send({ typeUrl: clusterUrl, resourceNamesSubscribe: ["*"] });
    await client.arrived();
    const first = client.next();
    client.ack(first);
    folder.write({ "config/a.example/clusters/web.yaml": "type: STATIC\nconnect_timeout: 1s\n" });
    await client.arrived();
    const second = client.next();
    expect(second.resources.map(({ name }) => name)).toEqual([
      "xdstp://a.example/envoy.config.cluster.v3.Cluster/web",
    ]);
    expect(second.resources[0]?.version).not.toBe(first.resources[0]?.version);
    child.kill("SIGINT");
    expect(await client.status).toBe(0);
    expect(await exit).toBe(0);
    expect(await stdout.line(/stopped/)).toContain("every stream has ended");
    expect(stderr.text).toBe("");
    client.close();
  });

  it("ends at once on a second Ctrl-C, although a client does not read, and has failed", async () => {
    const folder = useFolder({
      "a.example/secrets/big.yaml": `generic_secret: { secret: { inline_string: "${"x".repeat(3_000_000)}" } }\n`,
    });
    const { child, stdout, exit } = start([
      "serve",
      folder.dir,
      "--listen",
      "127.0.0.1:0",
      "--json",
    ]);
    const { address } = JSON.parse(await stdout.line(/"listening"/)) as {
      readonly address: { readonly port: number };
    };
    await stdout.line(/"loaded"/);
    const client = await openDeltaStream(address.port, "n1");
    client.pause();
    client.send({
      typeUrl: "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
      resourceNamesSubscribe: [
        "xdstp://a.example/envoy.extensions.transport_sockets.tls.v3.Secret/big",
      ],
    });
    await stdout.line(/"push"/);
    child.kill("SIGINT");
    await stdout.line(/"stopping"/);
    child.kill("SIGINT");
    expect(await exit).toBe(1);
    expect(stdout.text).not.toContain('"stopped"');
    client.close();
  });

  it("writes its whole output for a reader of the pipe that is slower, and ends when a reader closes the pipe", async () => {
    const text = "x".repeat(100_000);
    const folder = useFolder(
      Object.fromEntries(
        Array.from({ length: 20 }, (_, index) => [
          `a.example/clusters/c${index}.json`,
          JSON.stringify({ type: "STATIC", alt_stat_name: text }),
        ]),
      ),
    );
    const served = start(["serve", folder.dir, "--listen", "127.0.0.1:0"]);
    const port = /127\.0\.0\.1:(\d+), serving/.exec(await served.stdout.line(/listening/))?.[1];
    await served.stdout.line(/Z loaded /);
    const asked = ["get", "*", "--type", "clusters", "--server", `127.0.0.1:${port ?? ""}`];
    const slow = start([...asked, "--json"]);
    slow.child.stdout?.on("data", () => {
      slow.child.stdout?.pause();
      setTimeout(() => slow.child.stdout?.resume(), 10);
    });
    expect(await slow.exit).toBe(0);
    const { resources } = JSON.parse(slow.stdout.text) as {
      readonly resources: readonly unknown[];
    };
    expect(resources).toHaveLength(20);
    const closed = start([...asked, "--json"]);
    closed.child.stdout?.once("data", () => closed.child.stdout?.destroy());
    expect([await closed.exit, closed.stderr.text]).toEqual([0, ""]);
  });

  it("starts again on its port right after it was killed, serves the current folder, and sends a client only the changed resources", async () => {
    const file = "a.example/clusters/web.yaml";
    const folder = useFolder({
      [file]: "alt_stat_name: v0\n",
      "a.example/clusters/same.yaml": "{}",
    });
    const port = String(await freePort());
    const versions = new Map<string, string>();
    for (const life of ["v0", "v1", "v2"]) {
      folder.write({ [file]: `alt_stat_name: ${life}\n` });
      const served = start(["serve", folder.dir, "--listen", port, "--json"]);
      await served.stdout.line(/"loaded"/);
      const client = await openDeltaStream(Number(port), "n1");
      client.send({
        typeUrl: clusterUrl,
        resourceNamesSubscribe: ["*"],
        initialResourceVersions: Object.fromEntries(versions),
      });
      await client.arrived();
      const response = client.next();
      client.ack(response);
      expect(response.resources.map(({ name }) => name.split("/").at(-1)).sort()).toEqual(
        life === "v0" ? ["same", "web"] : ["web"],
      );
      for (const { name, version } of response.resources) versions.set(name, version);
      await served.stdout.line(/"ack"/);
      folder.write({ [file]: "alt_stat_" });
      served.child.kill("SIGKILL");
      await served.exit;
      expect(await client.status).toBe(-1);
      client.close();
    }
  });

  it("names a port in use in one line, and fails", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => {
      other.listen(0, "127.0.0.1", resolve);
    });
    const { port } = other.address() as { readonly port: number };
    const { stdout, stderr, exit } = start([
      "serve",
      useFolder().dir,
      "--listen",
      `127.0.0.1:${port}`,
    ]);
    expect(await exit).toBe(1);
    other.close();
    expect({ out: stdout.text, lines: stderr.text.split("\n").length }).toEqual({
      out: "",
      lines: 2,
    });
    expect(stderr.text).toContain(`127.0.0.1:${port} is in use`);
  });

  it("prints a bootstrap and is done, and called the wrong way ends with 2", async () => {
    const [good, bad] = [start(["bootstrap", "grpc"]), start(["bootstrap", "nginx"])];
    expect(await good.exit).toBe(0);
    expect(JSON.parse(good.stdout.text)).toHaveProperty("xds_servers");
    expect(await bad.exit).toBe(2);
    expect(bad.stderr.text).toContain("Usage: xdstp bootstrap");
  });

  const full = existsSync("/dev/full");

  it.runIf(full).each([["--help"], ["bootstrap", "envoy"]])(
    "fails in one line where the disk is full (shown where there is a /dev/full): %s",
    async (...args) => {
      const output = openSync("/dev/full", "w");
      onTestFinished(() => {
        closeSync(output);
      });
      const { stderr, exit } = start(args, useFolder().dir, output);
      expect(await exit).toBe(1);
      expect(stderr.text).toMatch(
        /^xdstp.*: the output cannot be written \(ENOSPC: .*\); make room, or write it elsewhere\n$/,
      );
    },
  );

  it.runIf(full)(
    "serves on where the disk of its log is full (shown where there is a /dev/full)",
    async () => {
      const output = openSync("/dev/full", "w");
      onTestFinished(() => {
        closeSync(output);
      });
      const folder = useFolder({ "a.example/clusters/web.yaml": "type: STATIC\n" });
      const metrics = await freePort();
      const { child, exit } = start(
        ["serve", folder.dir, "--listen", "127.0.0.1:0", "--metrics", String(metrics)],
        folder.dir,
        output,
      );
      await expect
        .poll(
          async () =>
            (await fetch(`http://127.0.0.1:${metrics}/readyz`).catch(() => undefined))?.status,
        )
        .toBe(200);
      child.kill("SIGTERM");
      expect(await exit).toBe(0);
    },
  );

  it("serves on when the reader of its log has gone", async () => {
    const folder = useFolder();
    const { child, stdout, exit } = start(["serve", folder.dir, "--listen", "127.0.0.1:0"]);
    const port = Number(/127\.0\.0\.1:(\d+), serving/.exec(await stdout.line(/listening/))?.[1]);
    await stdout.line(/Z loaded /);
    child.stdout?.destroy();
    const client = await openDeltaStream(port, "n1");
    client.send({
      typeUrl: clusterUrl,
      resourceNamesSubscribe: ["xdstp://a.example/envoy.config.cluster.v3.Cluster/web"],
    });
    folder.write({ "a.example/clusters/web.yaml": "type: STATIC\n" });
    let names: readonly string[] = [];
    while (names.length === 0) {
      await client.arrived();
      const response = client.next();
      client.ack(response);
      names = response.resources.map(({ name }) => name);
    }
    client.close();
    child.kill("SIGTERM");
    expect(await exit).toBe(0);
  });
});

/** Returns a port of loopback that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as { readonly port: number };
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  return port;
}
