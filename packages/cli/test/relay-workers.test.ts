import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { formatEndpoint } from "../src/endpoint.ts";
import { freePort } from "../src/workers/start-child.ts";
import { askForClusters, nextNames } from "./cluster-stream.ts";
import { openDeltaStream } from "./grpc-stream.ts";
import { createTextSink, type TextSink } from "./text-sink.ts";
import { runToEnd, useCli } from "./use-cli.ts";
import { lead, of, type Lead } from "./use-federation.ts";
import { useFolder } from "./use-folder.ts";
import { clusterUrl, useOrigin } from "./use-origin.ts";
import { useProgram } from "./use-program.ts";

const startProgram = useProgram();

interface Workers {
  readonly program: ChildProcess;
  readonly out: TextSink;
  readonly port: number;
  readonly exit: Promise<number | null>;
  /** Returns the process id of the newest process of a worker; 0 is the first process. */
  readonly pid: (worker: number) => number;
}

interface Line {
  readonly event: string;
  readonly worker?: number;
  readonly pid?: number;
  readonly address?: { readonly port: number };
}

/** @param count - The number of workers. 0: one process does everything */
async function useWorkers(
  upstream: string,
  count: number,
  ...more: readonly string[]
): Promise<Workers> {
  const program = startProgram(
    [
      "relay",
      "--server",
      upstream,
      "--listen",
      "127.0.0.1:0",
      "--json",
      ...(count === 0 ? [] : ["--workers", String(count)]),
      ...more,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const out = createTextSink();
  program.stdout
    ?.setEncoding("utf8")
    .on("data", (text: string) => {
      out.write(text);
    })
    .on("end", () => {
      out.end();
    });
  const exit = new Promise<number | null>((resolve) => {
    program.once("exit", resolve);
  });
  onTestFinished(async () => {
    program.kill("SIGKILL");
    await exit;
    // If the test has failed, some processes may still run.
    for (const { event, pid: left } of lines(out))
      if (event === "worker-started" && left !== undefined && runs(left))
        process.kill(left, "SIGKILL");
  });
  const { address } = JSON.parse(await out.line(/"listening"/)) as Line;
  const pid = (worker: number): number =>
    lines(out).findLast((line) => line.event === "worker-started" && line.worker === worker)?.pid ??
    0;
  return { program, out, port: address?.port ?? 0, exit, pid };
}

function lines({ text }: TextSink): readonly Line[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line);
}

async function useOriginWith(...ids: readonly string[]): Promise<Lead> {
  const origin = lead(await useOrigin());
  for (const id of ids) origin.cluster(of("x", id));
  return origin;
}

/** Returns true if the process runs. A process that has ended but was not waited for (a zombie) does not count. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" && !readdirSync("/").includes("proc");
  }
}

describe("xdstp relay --workers", () => {
  it("serves on one port by several processes, which together ask upstream once, and tells the status of all their clients [B-RELAY-1]", async () => {
    const origin = await useOriginWith("a");
    const { out, port, program, exit, pid } = await useWorkers(origin.address, 2);
    const clients = await Promise.all(
      ["n1", "n2", "n3", "n4"].map((node) => askForClusters(port, node, of("x", "a"))),
    );
    for (const client of clients) expect(await nextNames(client)).toEqual([of("x", "a")]);
    expect(origin.asked).toEqual([of("x", "a")]);
    await expect.poll(() => lines(out).filter(({ event }) => event === "ack").length).toBe(4);
    expect(
      new Set(
        lines(out)
          .filter(({ event }) => event === "ack")
          .map(({ worker }) => worker),
      ),
    ).toEqual(new Set([1, 2]));
    const { out: told } = await runToEnd(["status", `127.0.0.1:${port}`, "--json"]);
    expect(
      (JSON.parse(told) as { clients: { id: string }[] }).clients.map(({ id }) => id).sort(),
    ).toEqual(["n1", "n2", "n3", "n4"]);
    const [client] = clients;
    origin.cluster(of("x", "a"), 2);
    await client?.arrived();
    if (client !== undefined) client.nack(client.next(), "bad for me");
    expect(await out.line(/"nack"/)).toContain("bad for me");
    expect(JSON.parse(await out.line(/"resource-rejected"/))).toMatchObject({
      from: "upstream",
      name: of("x", "a"),
      type: clusterUrl,
      client: "n1",
      reason: "bad for me",
      worker: expect.any(Number) as number,
    });
    expect((await runToEnd(["status", `127.0.0.1:${port}`, "--fail-on-nack"])).code).toBe(1);
    expect(
      JSON.parse((await runToEnd(["status", `127.0.0.1:${port}`, "--json"])).out),
    ).toMatchObject({
      rejections: [{ name: of("x", "a"), clients: 1, by: ["n1"], reason: "bad for me" }],
    });
    const pids = [0, 1, 2].map(pid);
    expect(pids.map(runs)).toEqual([true, true, true]);
    program.kill("SIGTERM");
    expect(await exit).toBe(0);
    expect(pids.map(runs)).toEqual([false, false, false]);
  });

  it("asks upstream anew for what may not be kept when another client asks for it, whichever worker has it [B-RELAY-11]", async () => {
    const origin = await useOriginWith();
    origin.cache.put({
      typeUrl: clusterUrl,
      name: of("x", "a"),
      value: Buffer.of(),
      noStore: true,
    });
    const { port } = await useWorkers(origin.address, 2);
    for (const node of ["n1", "n2", "n3", "n4"])
      expect(await nextNames(await askForClusters(port, node, of("x", "a")))).toEqual([
        of("x", "a"),
      ]);
    expect(origin.asked).toEqual(Array(4).fill(of("x", "a")));
  });

  it("goes on serving what is held when the process dies that asks upstream, which is started again", async () => {
    const origin = await useOriginWith("a", "b");
    const { out, port, pid } = await useWorkers(origin.address, 2, "--snapshot", useFolder().dir);
    const clients = await Promise.all(
      ["n1", "n2"].map((node) => askForClusters(port, node, of("x", "a"))),
    );
    for (const client of clients) await nextNames(client);
    const first = pid(0);
    process.kill(first, "SIGKILL");
    await out.line(/"worker-ended".*"worker":0|"worker":0.*"worker-ended"/);
    for (const node of ["n3", "n4"])
      expect(await nextNames(await askForClusters(port, node, of("x", "a")))).toEqual([
        of("x", "a"),
      ]);
    origin.cluster(of("x", "a"), 9);
    for (const client of clients) expect(await nextNames(client)).toEqual([of("x", "a")]);
    expect(await nextNames(await askForClusters(port, "n5", of("x", "b")))).toEqual([of("x", "b")]);
    expect(pid(0)).not.toBe(first);
    expect(lines(out).filter(({ event }) => event === "disconnect")).toEqual([]);
  });

  it.each([0, 2])(
    "can be started again at once after kill -9, with all that was stored, while the server upstream is gone (--workers %i) [B-RELAY-9]",
    async (count) => {
      const origin = await useOriginWith("a");
      const { dir } = useFolder();
      const first = await useWorkers(origin.address, count, "--snapshot", dir);
      const name = of("x", "a");
      expect(await nextNames(await askForClusters(first.port, "n1", name))).toEqual([name]);
      const database = new DatabaseSync(join(dir, "snapshot.db"), { readOnly: true });
      await expect
        .poll(() => database.prepare("SELECT count(*) AS rows FROM entry").get()?.rows)
        .toBe(1);
      database.close();
      await origin.close();
      first.program.kill("SIGKILL");
      const second = await useWorkers(origin.address, count, "--snapshot", dir);
      expect(await nextNames(await askForClusters(second.port, "n2", name))).toEqual([name]);
      expect(lines(second.out).map(({ event }) => event)).not.toContain("snapshot-set-aside");
    },
  );

  it("rejects upstream what a client of some worker rejects, with --quorum [B-RELAY-5]", async () => {
    const origin = await useOriginWith("a");
    const rejected = new Promise<string>((resolve) => {
      origin.server.events((event) => {
        if (event.kind === "nack") resolve(event.error.message);
      });
    });
    const { out, port } = await useWorkers(origin.address, 2, "--quorum", "1");
    const client = await askForClusters(port, "n1", of("x", "a"));
    await nextNames(client);
    await out.line(/"ack"/);
    origin.cluster(of("x", "a"), 2);
    await client.arrived();
    client.nack(client.next(), "not this one");
    expect(await rejected).toContain("not this one");
  });

  it("gives nobody what a client of some worker rejects, though those of another one have accepted it, with --quorum [B-RELAY-5]", async () => {
    const origin = await useOriginWith("a");
    const answers: string[] = [];
    origin.server.events((event) => {
      if (event.kind === "nack") answers.push("NACK");
    });
    const { out, port } = await useWorkers(
      origin.address,
      2,
      "--quorum",
      "1",
      "--quorum-wait",
      "60",
    );
    // Connections are distributed over the workers roughly in turn.
    const clients: Awaited<ReturnType<typeof askForClusters>>[] = [];
    const workers = (): ReadonlySet<unknown> =>
      new Set(
        lines(out)
          .filter(({ event }) => event === "ack")
          .map(({ worker }) => worker),
      );
    while (workers().size < 2 && clients.length < 20) {
      const client = await askForClusters(port, `n${clients.length}`, of("x", "a"));
      clients.push(client);
      await nextNames(client);
      await expect
        .poll(() => lines(out).filter(({ event }) => event === "ack").length)
        .toBe(clients.length);
    }
    origin.cluster(of("x", "a"), 2);
    // One client of each worker is sent the change first.
    const first = await Promise.race(
      clients.map(async (client) => {
        await client.arrived();
        return client;
      }),
    );
    first.ack(first.next());
    const others = clients.filter((client) => client !== first);
    const second = await Promise.race(
      others.map(async (client) => {
        await client.arrived();
        return client;
      }),
    );
    expect(answers).toEqual([]);
    second.nack(second.next(), "not this one");
    await expect.poll(() => answers).toEqual(["NACK"]);
    // The clients that were sent the change are sent the previous version again.
    for (const client of [first, second]) expect(await nextNames(client)).toEqual([of("x", "a")]);
  });

  it("asks for more names than one client may, since a worker has many clients", async () => {
    const origin = await useOrigin({ limits: { stream: { subscriptions: 20_000 } } });
    const names = Array.from({ length: 10_400 }, (_, nth) => of("x", `c${nth}`));
    for (const name of names) origin.cluster(name);
    const { port } = await useWorkers(origin.address, 1);
    for (const part of [names.slice(0, 5_200), names.slice(5_200)]) {
      const client = await askForClusters(port, part[0] ?? "", ...part);
      const seen = new Set<string>();
      while (seen.size < part.length) {
        const some = await nextNames(client);
        for (const name of some) seen.add(name);
        if (some.length === 0) break;
      }
      expect(seen.size).toBe(part.length);
    }
  });

  it("starts a worker again that dies; its clients are told of as gone", async () => {
    const origin = await useOriginWith("a");
    const { out, port, pid } = await useWorkers(origin.address, 1);
    await nextNames(await askForClusters(port, "n1", of("x", "a")));
    await out.line(/"ack"/);
    const before = pid(1);
    process.kill(before, "SIGKILL");
    expect(await out.line(/"disconnect"/)).toContain("worker 1 has ended");
    await expect.poll(() => pid(1), { timeout: 20_000 }).not.toBe(before);
    await expect
      .poll(
        async () =>
          openDeltaStream(port, "probe").then(
            (client) => {
              client.close();
              return true;
            },
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    expect(await nextNames(await askForClusters(port, "n2", of("x", "a")))).toEqual([of("x", "a")]);
  });

  it("shows whom the first asks, and the clients of all workers", async () => {
    const origin = await useOriginWith("a");
    const port = await freePort({ host: "127.0.0.1", port: 0 });
    const cli = useCli(
      ["relay", "--server", origin.address, "--listen", formatEndpoint(port), "--workers", "2"],
      { env: { ...process.env, NO_COLOR: "1" }, terminal: () => ({ columns: 100, rows: 30 }) },
    );
    await cli.stdout.line(/on 127\.0\.0\.1/);
    for (const node of ["n1", "n2"])
      await nextNames(await askForClusters(port.port, node, of("x", "a")));
    expect(await cli.stdout.line(/answering/)).toMatch(/^127\.0\.0\.1:\d+ +\(default\) +answering/);
    for (const node of ["n1", "n2"])
      expect(await cli.stdout.line(new RegExp(`^${node} +clusters +SYNCED`))).toContain(node);
    expect(await cli.stdout.line(/1 resource, revision/)).toContain("xdstp relay --server");
  });

  it("serves what all of them measure as one; what a worker has counted still counts when it has ended", async () => {
    const origin = await useOriginWith("a");
    const { out, port, pid } = await useWorkers(origin.address, 2, "--metrics", "127.0.0.1:0");
    const { metrics } = JSON.parse(await out.line(/"listening"/)) as {
      readonly metrics: { readonly host: string; readonly port: number };
    };
    const get = async (path: string): Promise<string> =>
      (
        await fetch(`http://${metrics.host}:${metrics.port}/${path}`, {
          headers: { connection: "close" },
        })
      ).text();
    expect(await get("readyz")).toBe("ok\n");
    // Connections are distributed over the workers in turn.
    for (const node of ["n1", "n2"])
      await nextNames(await askForClusters(port, node, of("x", "a")));
    const pushes = '\npilot_xds_pushes{type="envoy.config.cluster.v3.Cluster"} 2\n';
    const both = await get("metrics");
    expect(both).toContain('\npilot_xds{variant="delta"} 2\n');
    expect(both).toContain(pushes);
    expect(both).toContain("\nxdstp_log_lines_lost_total 0\n");
    process.kill(pid(1), "SIGKILL");
    await out.line(/"worker-ended"/);
    const one = await get("metrics");
    expect(one).toContain('\npilot_xds{variant="delta"} 1\n');
    expect(one).toContain(pushes);
  });

  it("is ready and says what is stale where the server upstream has gone, as a relay of one process does", async () => {
    const origin = await useOriginWith("a");
    const { out, port } = await useWorkers(origin.address, 1, "--metrics", "127.0.0.1:0");
    const { metrics } = JSON.parse(await out.line(/"listening"/)) as {
      readonly metrics: { readonly host: string; readonly port: number };
    };
    const ready = async (): Promise<{ readonly status: number; readonly text: string }> => {
      const response = await fetch(`http://${metrics.host}:${metrics.port}/readyz`, {
        headers: { connection: "close" },
      });
      return { status: response.status, text: await response.text() };
    };
    await nextNames(await askForClusters(port, "n1", of("x", "a")));
    const measured = async (): Promise<readonly string[]> =>
      (
        await (
          await fetch(`http://${metrics.host}:${metrics.port}/metrics`, {
            headers: { connection: "close" },
          })
        ).text()
      )
        .split("\n")
        .filter((line) => line.startsWith("xdstp_upstream_stale"));
    const health = async (): Promise<unknown> =>
      (
        JSON.parse((await runToEnd(["status", `127.0.0.1:${port}`, "--json"])).out) as {
          readonly health: unknown;
        }
      ).health;
    expect(await ready()).toEqual({ status: 200, text: "ok\n" });
    expect(await measured()).toEqual([`xdstp_upstream_stale{upstream="${origin.address}"} 0`]);
    expect(await health()).toMatchObject([{ kind: "upstream", name: origin.address }]);
    await origin.close();
    await out.line(/"from":"upstream","event":"closed"/);
    expect(await ready()).toEqual({
      status: 200,
      text: expect.stringMatching(
        new RegExp(`^ready, stale since \\d{4}-\\S+Z: ${origin.address}: `),
      ) as string,
    });
    expect(await measured()).toEqual([`xdstp_upstream_stale{upstream="${origin.address}"} 1`]);
    expect(await health()).toMatchObject([
      { kind: "upstream", name: origin.address, stale: { reason: expect.any(String) as string } },
    ]);
  });

  it("says in /readyz that the policy file and the certificate are not used, and why", async () => {
    const authority = createTestAuthority();
    const { cert, key } = authority.issue({ dnsNames: ["localhost"] });
    const folder = useFolder({
      "policy.yaml": "rules: []\n",
      "cert.pem": cert,
      "key.pem": key,
      "ca.pem": authority.cert,
    });
    const file = (name: string): string => join(folder.dir, name);
    const { out } = await useWorkers(
      "127.0.0.1:1",
      2,
      ...["--metrics", "127.0.0.1:0", "--policy", file("policy.yaml")],
      ...["--tls-cert", file("cert.pem"), "--tls-key", file("key.pem")],
      ...["--tls-client-ca", file("ca.pem")],
    );
    const { metrics } = JSON.parse(await out.line(/"listening"/)) as {
      readonly metrics: { readonly host: string; readonly port: number };
    };
    folder.write({ "policy.yaml": "rules: [\n" });
    await out.line(/"event":"policy"/);
    folder.write({ "cert.pem": authority.issue({ dnsNames: ["localhost"] }).cert });
    await out.line(/"event":"certificate"/);
    const ready = async (): Promise<readonly string[]> => {
      const response = await fetch(`http://${metrics.host}:${metrics.port}/readyz`, {
        headers: { connection: "close" },
      });
      return (await response.text()).split("\n").map((line) => line.replace(/^.*Z: /, ""));
    };
    expect(await ready()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/policy\.yaml: .*policy\.yaml:\d+:\d+: is not YAML/),
        expect.stringMatching(/cert\.pem: --tls-key does not belong to --tls-cert/),
      ]),
    );
  });

  it("leaves no process behind when it is killed itself", async () => {
    const origin = await useOriginWith("a");
    const { program, exit, pid } = await useWorkers(origin.address, 2);
    const pids = [0, 1, 2].map(pid);
    program.kill("SIGKILL");
    await exit;
    await expect.poll(() => pids.map(runs), { timeout: 20_000 }).toEqual([false, false, false]);
  });

  it.each([
    [["--workers", "0"], 2, '--workers "0": give a number from 1'],
    [["--workers", "1000"], 2, "--workers 1000: give at most 256"],
    [["--workers", "1", "--opaque-key", "colour"], 1, '--opaque-key: a node has no field "colour"'],
    [["--workers", "1", "--tls-cert", "none.pem", "--tls-key", "none.pem"], 1, "none.pem"],
  ])("does not begin with %j", async (args, code, text) => {
    const result = await runToEnd(
      ["relay", "--server", "127.0.0.1:1", "--listen", "127.0.0.1:0", ...args],
      { env: process.env },
    );
    expect(result).toMatchObject({ code, out: "" });
    expect(result.err).toContain(text);
  });
});
